"""Markdown for a comment on a pull request, or for the summary of a job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from contractlog.clients.cli.report_formats.report import Report, ReportedFile, ReportedFinding
from contractlog.compatibility.limits import truncate
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["MAX_CHARACTERS", "render_markdown"]

MAX_CHARACTERS: Final = 65_000  #: GitHub rejects comments of over 65,536; the rest is left for a marker
_MAX_TEXT: Final = 1_000  #: characters of a message, a fix or a name
_MAX_DIFF: Final = 4_000  #: characters of a suggested fix
_MAX_ROWS: Final = 25  #: rows of a table
_MAX_NOTES: Final = 3  #: notes of a file
_RESERVED: Final = 300  #: for the sentence that says what is not shown
_SYMBOLS: Final = {"error": "✗", "warning": "!", "note": "·"}
_JSON: Final = r"""\[(?=["{])(?:[^][`]|\[[^][`]*\])*\]|\{(?=")(?:[^{}`]|\{[^{}`]*\})*\}"""  # such as a list of types
_TOKEN: Final = re.compile(rf"({_JSON})|`([^`]+)`|(`+)|([^\s`]+)|(\s+)")
_COUNT: Final = re.compile("[0-9][0-9,]* [a-z]")
_PUNCTUATION: Final = ".,;:!?"
_PLAIN_WORD: Final = re.compile(r"""(?!.*www\.)[A-Za-z0-9.,;!?'"()%/=+-]+:?""", re.IGNORECASE)


def render_markdown(report: Report) -> str:
    """Return the report as GitHub Flavored Markdown of at most ``MAX_CHARACTERS``.

    Files that do not pass come first. Names and messages cannot form markup, links or mentions: of a text, everything
    but plain words is a code span. Whole findings are left out at the limit, and the last sentence counts them.
    """
    files = [file for file in report.files if file.findings or file.listed or file.outcome != "passed"]
    files.sort(key=lambda file: file.outcome == "passed")
    text = f"### {report.command}: {report.summary}\n"
    omitted_findings = omitted_files = 0
    for file in files:
        header = _file_header(file)
        if len(text) + len(header) > MAX_CHARACTERS - _RESERVED:
            omitted_files += 1
            omitted_findings += len(file.findings)
            continue
        text += header
        group = ""
        for finding in file.findings:
            block = f"\n##### {_prose(finding.group)}\n" if finding.group not in {"", group} else ""
            block += _finding_block(finding)
            if omitted_files or len(text) + len(block) > MAX_CHARACTERS - _RESERVED:
                omitted_findings += 1
                continue
            text += block
            group = finding.group
    if omitted_findings or omitted_files:
        where = f", and {omitted_files:,} of {len(files):,} files" if omitted_files else ""
        text += (
            f"\n**Not shown here: {omitted_findings:,} more of {len(report.findings):,} findings{where}.** "
            f"A comment has at most 65,536 characters; `{report.command}` shows everything.\n"
        )
    return text


def _file_header(file: ReportedFile) -> str:
    symbol = "✓" if file.outcome == "passed" else "✗"
    lines = [f"\n#### {symbol} {_code(file.path)}\n"]
    if file.verdict not in {finding.message for finding in file.findings}:
        lines.append(f"\n{_sentence(file.verdict)}\n")
    lines += [f"\n{_sentence(f'Note: {note}')}\n" for note in file.notes[:_MAX_NOTES]]
    for title, header, rows in file.tables:
        lines += [f"\n##### {_prose(title)}\n\n", _row(header), _row(["---"] * len(header))]
        lines += [_row(map(_cell, row)) for row in rows[:_MAX_ROWS]]
        lines += [f"\n{len(rows) - _MAX_ROWS:,} more are not shown.\n"] if len(rows) > _MAX_ROWS else []
    return "".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _cell(text: str) -> str:
    """Return a text for a table, where a bar separates cells even in a code span."""
    return _prose(text).replace("|", "\\|")


def _finding_block(finding: ReportedFinding) -> str:
    position = f" in line {finding.line}" if finding.line is not None else ""
    position += f", column {finding.column}" if finding.line is not None and finding.column is not None else ""
    position += f", at {_code(finding.pointer)}" if finding.pointer else ""
    message = _sentence(finding.message, capitalize=False)
    lines = [
        f"\n{_SYMBOLS[finding.severity]} **{_code(finding.rule)}**{position}: {message}\n",
        *(f"\n- {_sentence(detail)}\n" for detail in finding.details[:1]),
        *_diff_block(finding.diff),
        *(f"\n- {_sentence(detail)}\n" for detail in finding.details[1:]),
    ]
    return "".join(lines)


def _diff_block(diff: tuple[str, ...]) -> Iterator[str]:
    """Yield a fenced block; the fence is longer than any run of backticks in it."""
    if not diff:
        return
    content = "\n".join(escape_line(line.removesuffix("\r")) for line in diff)
    if len(content) > _MAX_DIFF:
        yield "\nThe suggested change is too long to be shown here.\n"
        return
    fence = "`" * max(3, _longest_run(content) + 1)
    yield f"\n{fence}diff\n{content}\n{fence}\n"


def _sentence(text: str, *, capitalize: bool = True) -> str:
    prose = _prose(text)
    prose = prose[:1].upper() + prose[1:] if capitalize else prose
    return prose if prose.endswith((".", "…")) else f"{prose}."


def _prose(text: str) -> str:
    r"""Return a text on one line, in which only plain words are outside code spans.

    >>> _prose("field `a_b` of @all has <b>")
    'field `a_b` of `@all` has `<b>`'
    >>> _prose('the type ["null", "long"]')
    'the type `["null", "long"]`'
    >>> _prose('2 fields of `A`: {"b": {"c": 1}}')
    '2 fields of `A`: `{"b": {"c": 1}}`'
    """
    parts: list[str] = []
    line = _shorten(text.strip())
    plain_start = line[:1].isalpha() or _COUNT.match(line) is not None  # `1.` would begin a list
    for json_value, span, backticks, word, _ in _TOKEN.findall(line):
        content = word.rstrip(_PUNCTUATION)
        ends_span = bool(word and not content and parts and parts[-1].endswith("`"))
        if ends_span or (_PLAIN_WORD.fullmatch(word) and (parts or plain_start)):
            part = word
        elif content:
            part = _code(content) + word[len(content) :]
        elif json_value or span or backticks or word:
            part = _code(json_value or span or backticks or word)
        else:
            part = " "
        if part.startswith("`") and parts and parts[-1].endswith("`"):
            parts.append(" ")  # two adjacent code spans would be one
        parts.append(part)
    return "".join(parts)


def _code(text: str) -> str:
    """Return a code span, with more backticks around it than in it."""
    content = _shorten(text)
    if not content.strip():
        return "`(empty)`"
    fence = "`" * (_longest_run(content) + 1)
    pad = " " if content[0] in "` " or content[-1] in "` " else ""
    return f"{fence}{pad}{content}{pad}{fence}"


def _shorten(text: str) -> str:
    """Return a text as one line of limited length."""
    line = escape_line(re.sub(r"\s*\n\s*|\t", " ", text[: _MAX_TEXT + 1]))
    return truncate(line, _MAX_TEXT)


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
