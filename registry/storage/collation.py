"""Text ordered by its bytes, on every database, whatever the locale of a PostgreSQL server."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, String
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["order_by_bytes"]


class _Bytewise(FunctionElement[str]):
    type = String()
    inherit_cache = True


def order_by_bytes(text: ColumnElement[Any]) -> ColumnElement[str]:
    """Return an expression to order by."""
    return _Bytewise(text)


@compiles(_Bytewise)
def _plain(element: Any, compiler: Any, **options: Any) -> str:
    found: str = compiler.process(element.clauses, **options)
    return found


@compiles(_Bytewise, "postgresql")
def _postgresql(element: Any, compiler: Any, **options: Any) -> str:
    return f'({compiler.process(element.clauses, **options)}) COLLATE "C"'
