"""Modes: what may be written."""

from __future__ import annotations

from contractlog.clients.calls.call import Call, SubjectLike, flags, scope
from contractlog.compatibility.level import Mode

__all__ = ["mode", "set_mode"]


def mode(subject: SubjectLike | None = None) -> Call[Mode]:
    """GET /mode[/{subject}]."""
    return Call(
        "GET",
        scope("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        () if subject is None else flags(defaultToGlobal=True),
    )


def set_mode(value: Mode | str, subject: SubjectLike | None = None) -> Call[Mode]:
    """PUT /mode[/{subject}]."""
    wanted = Mode.parse(value)
    return Call(
        "PUT",
        scope("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        body={"mode": wanted.value},
    )
