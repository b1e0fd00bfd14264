"""Construction of the findings of Avro checks, with messages in the reference's format.

A message is a format string with slots ``{reader}`` and ``{writer}``; text from a schema is escaped, so no name can be
mistaken for a slot.
"""

from __future__ import annotations

from contractlog.compatibility.check_description import CheckDescription
from contractlog.compatibility.finding import Finding

__all__ = ["escape_braces", "make_finding", "write_message"]


def make_finding(check: CheckDescription, at: tuple[str, str], detail: str, message: str, *fixes: str) -> Finding:
    """Return a finding of a check.

    Args:
        check: the check.
        at: JSON Pointers to the position in the reader and in the writer.
        detail: the description for people.
        message: the reference's message, by ``write_message``.
        fixes: the suggested fix of the reader, then that of the writer.
    """
    return Finding(check.id, *at, detail, message, *fixes)


def write_message(kind: str, description: str, info: str) -> str:
    """Return a message in the reference's format.

    ``info`` is escaped here; text from a schema in ``description``, which may have slots, is escaped by the caller.
    """
    return f"{{{{errorType:'{kind}', description:'{description}', additionalInfo:'{escape_braces(info)}'}}}}"


def escape_braces(text: str) -> str:
    """Return text from a schema so that a message contains it literally."""
    return text.replace("{", "{{").replace("}", "}}")
