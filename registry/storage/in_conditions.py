"""SQL condition "column is one of these values", with all the values in a single parameter.

The statement is the same for any number of values, so it is compiled once, and PostgreSQL plans it once.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Dialect, Text, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import Boolean, TypeDecorator

__all__ = ["in_numbers", "in_texts"]


class _ListParameter(TypeDecorator[Collection[Any]]):
    """Many values as one parameter: an array, or JSON text where the database has no arrays."""

    impl = Text
    cache_ok = True

    def __init__(self, *, numbers: bool) -> None:
        super().__init__()
        self.numbers = numbers

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        item = BigInteger() if self.numbers else Text()
        return dialect.type_descriptor(ARRAY(item) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Collection[Any] | None, dialect: Dialect) -> Any:
        values = list(value or ())
        return values if dialect.name == "postgresql" else json.dumps(values)


class _InCondition(GenericFunction[bool]):
    type = Boolean()
    inherit_cache = True


@compiles(_InCondition)
def _as_json(element: _InCondition, compiler: SQLCompiler, **how: Any) -> str:
    column, values = (compiler.process(clause, **how) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - both were compiled


@compiles(_InCondition, "postgresql")
def _as_array(element: _InCondition, compiler: SQLCompiler, **how: Any) -> str:
    column, values = (compiler.process(clause, **how) for clause in element.clauses)
    return f"{column} = ANY ({values})"


def in_numbers(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Return the condition that a column is one of the numbers in the parameter of this name."""
    return _InCondition(column, bindparam(name, type_=_ListParameter(numbers=True)))


def in_texts(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Return the condition that a column is one of the texts in the parameter of this name."""
    return _InCondition(column, bindparam(name, type_=_ListParameter(numbers=False)))
