"""Python functions generated for one schema or a pair of schemas from the interpreter's codecs."""

from __future__ import annotations

__all__ = ["InterpreterNeeded"]


class InterpreterNeeded(Exception):
    """Generated code does not handle this value or these bytes; the interpreter does."""
