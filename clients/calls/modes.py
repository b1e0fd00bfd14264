"""Calls about modes, which say what may be written."""

from __future__ import annotations

from contractlog.clients.calls.call import Call, SubjectLike, flags, scope
from contractlog.compatibility.level import Mode

__all__ = ["delete_mode", "mode", "set_mode"]


def mode(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Mode]:
    """GET /mode[/{subject}]."""
    return Call(
        "GET",
        scope("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        flags(defaultToGlobal=inherited),
    )


def set_mode(value: Mode | str, subject: SubjectLike | None = None, *, force: bool = False) -> Call[Mode]:
    """PUT /mode[/{subject}]; IMPORT needs ``force`` if there are schemas already."""
    wanted = Mode.parse(value)
    return Call(
        "PUT",
        scope("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        flags(force=force),
        {"mode": wanted.value},
    )


def delete_mode(subject: SubjectLike | None = None, *, recursive: bool = False) -> Call[Mode]:
    """DELETE /mode[/{subject}]; the response is the mode that was in force."""
    path, query = scope("mode", subject), flags(recursive=recursive)
    return Call("DELETE", path, lambda body: Mode.parse(body["mode"]), query, repeatable=False)
