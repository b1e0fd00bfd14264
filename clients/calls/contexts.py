"""Contexts: list them, delete an empty one."""

from __future__ import annotations

from contractlog.clients.calls.call import (
    Call,
    PathParameter,
    ignore_body,
    page_parameters,
    parse_strings,
    query_parameters,
)

__all__ = ["contexts", "delete_context"]


def contexts(*, prefix: str | None = None, offset: int = 0, limit: int = -1) -> Call[list[str]]:
    """Return the names of all contexts."""
    return Call(
        "GET", ("contexts",), parse_strings, (*query_parameters(contextPrefix=prefix), *page_parameters(offset, limit))
    )


def delete_context(context: str) -> Call[None]:
    """Delete a context that has no versions left.

    Raises:
        ContextNotEmpty: the context has versions.
    """
    return Call("DELETE", ("contexts", PathParameter(context)), ignore_body, repeatable=False)
