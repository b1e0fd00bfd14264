"""The registry itself."""

from __future__ import annotations

from contractlog.clients.calls.call import Call, texts

__all__ = ["contexts"]


def contexts() -> Call[list[str]]:
    """GET /contexts."""
    return Call("GET", ("contexts",), texts)
