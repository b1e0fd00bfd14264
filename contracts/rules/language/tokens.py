"""Tokens of rule expressions, with their positions, and the values of literals."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from contractlog.contracts.rules.language.expressions import LiteralValue, TextPosition, UnsignedInt
from contractlog.contracts.rules.rule_errors import RuleExpressionError

__all__ = ["MAX_INT", "MAX_UINT", "MIN_INT", "TextLines", "Token", "parse_number", "parse_text_literal", "scan_tokens"]

MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1
MAX_UINT: Final = 2**64 - 1
MAX_TOKENS: Final = 5_000

_QUOTED: Final = (
    r'"""(?:[^\\]|\\.)*?"""',
    r"'''(?:[^\\]|\\.)*?'''",
    r'"(?:[^"\\\n\r]|\\.)*"',
    r"'(?:[^'\\\n\r]|\\.)*'",
)
_RAW_QUOTED: Final = (r'"""[\s\S]*?"""', r"'''[\s\S]*?'''", r'"[^"\n\r]*"', r"'[^'\n\r]*'")
_TOKEN: Final = re.compile(
    rf"""
    (?P<space>[ \t\n\f\r]+|//[^\n]*)
  | (?P<text>[bB]?[rR](?:{"|".join(_RAW_QUOTED)})|[rR][bB](?:{"|".join(_RAW_QUOTED)})|[bB]?(?:{"|".join(_QUOTED)}))
  | (?P<float>(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|[0-9]+\.(?![a-zA-Z_0-9]))
  | (?P<int>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uU]?)
  | (?P<name>[a-zA-Z_][a-zA-Z0-9_]*)
  | (?P<symbol>\|\||&&|[<>=!]=|[-+*/%<>!?:.,;()\[\]{{}}])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<octal>[0-3][0-7]{2})|[xX](?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<one>.))",
    re.DOTALL,
)
_SIMPLE_ESCAPES: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "?": "?", '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_HEXADECIMAL: Final = 16
_SURROGATES: Final = range(0xD800, 0xE000)
_MAX_CODE_POINT: Final = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Token:
    """A name, a number, a string or a symbol of a text; the last token has kind ``end``."""

    kind: str
    text: str
    offset: int


class TextLines:
    """Lines of a text, to tell the position of an offset."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def locate(self, offset: int) -> TextPosition:
        """Return line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return TextPosition(line, offset - self._starts[line - 1] + 1)


def scan_tokens(text: str) -> list[Token]:
    """Split a text into tokens.

    Raises:
        RuleExpressionError: a character or a string that is no part of the language.
    """
    tokens: list[Token] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            at = TextLines(text).locate(offset)
            problem = "The string is not closed" if text[offset] in "\"'" else f"Unexpected character {text[offset]!r}"
            raise RuleExpressionError(f"{problem}.", at.line, at.column)
        if match.lastgroup != "space":
            tokens.append(Token(str(match.lastgroup), match.group(), offset))
        if len(tokens) > MAX_TOKENS:
            raise RuleExpressionError(
                f"The expression has more than {MAX_TOKENS:,} words and symbols.", outside_subset=True
            )
        offset = match.end()
    return [*tokens, Token("end", "", len(text))]


def parse_number(text: str, *, negative: bool) -> int | float:
    """Return the value of a number; ``text`` has no sign.

    Raises:
        ValueError: the number does not fit its type.
    """
    sign = -1 if negative else 1
    if text[-1] in "uU" and not negative:
        unsigned = UnsignedInt(_parse_integer(text[:-1]))
        if unsigned > MAX_UINT:
            raise ValueError(f"{text} is above {MAX_UINT}, the greatest uint")
        return unsigned
    if text[-1] in "uU":
        raise ValueError(f"-{text} is negative, and a uint is not")
    if text[:2] in {"0x", "0X"} or text.isdigit():
        number = sign * _parse_integer(text)
        if not MIN_INT <= number <= MAX_INT:
            raise ValueError(f"{number} is not in the range of int, {MIN_INT} to {MAX_INT}")
        return number
    return sign * float(text)


def parse_text_literal(text: str) -> LiteralValue:
    """Return the value of a string or bytes literal, as in the text with its prefix and quotes.

    Raises:
        ValueError: an escape is not valid.
    """
    prefix = text[: len(text) - len(text.lstrip("bBrR"))].lower()
    quoted = text[len(prefix) :]
    width = 3 if quoted[:3] in {'"""', "'''"} else 1
    content = quoted[width:-width]
    if "b" in prefix:
        return content.encode() if "r" in prefix else _unescape_bytes(content)
    return content if "r" in prefix else _ESCAPE.sub(_unescape, content)


def _parse_integer(text: str) -> int:
    return int(text, _HEXADECIMAL) if text[:2] in {"0x", "0X"} else int(text[:100])


def _unescape(match: re.Match[str]) -> str:
    code = _escaped_code(match)
    if code is None:
        return _simple_escape(match)
    if code in _SURROGATES or code > _MAX_CODE_POINT:
        raise ValueError(f"{match.group()} is no character")
    return chr(code)


def _unescape_bytes(content: str) -> bytes:
    parts: list[bytes] = []
    end = 0
    for match in _ESCAPE.finditer(content):
        parts.append(content[end : match.start()].encode())
        end = match.end()
        code = _escaped_code(match)
        if code is None:
            parts.append(_simple_escape(match).encode())
        elif match["u"] or match["U"]:
            raise ValueError(f"{match.group()} is not allowed in bytes; write \\x and two digits for each byte")
        else:
            parts.append(bytes([code]))
    return b"".join([*parts, content[end:].encode()])


def _escaped_code(match: re.Match[str]) -> int | None:
    """Return the number of a numeric escape; None if it is another one."""
    if match["octal"]:
        return int(match["octal"], 8)
    digits = match["x"] or match["u"] or match["U"]
    return int(digits, _HEXADECIMAL) if digits else None


def _simple_escape(match: re.Match[str]) -> str:
    try:
        return _SIMPLE_ESCAPES[match["one"]]
    except KeyError:
        raise ValueError(f"\\{match['one']} is no escape; write \\\\ for a backslash, or r'...'") from None
