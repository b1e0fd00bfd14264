"""SQL in two dialects: lists as one parameter, order by bytes, inserts with ``ON CONFLICT``."""

from __future__ import annotations

import json
from collections.abc import Collection
from importlib import import_module
from sqlite3 import sqlite_version_info
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Connection, Dialect, String, Table, Text, bindparam, func
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement, GenericFunction
from sqlalchemy.types import NullType, TypeDecorator

__all__ = ["byte_length", "dialect_insert", "in_numbers", "in_texts", "order_by_bytes"]


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
    # Not Boolean: SQLite has none, so that SQLAlchemy would append `= 1`, and SQLite would then scan the whole table.
    type = NullType()  # type: ignore[assignment] # nothing reads it
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


class _Bytewise(FunctionElement[str]):
    type = String()
    inherit_cache = True


def order_by_bytes(text: ColumnElement[Any]) -> ColumnElement[str]:
    """Return an expression to order by."""
    return _Bytewise(text)


@compiles(_Bytewise)
def _plain(element: Any, compiler: Any, **options: Any) -> str:
    sql: str = compiler.process(element.clauses, **options)
    return sql


@compiles(_Bytewise, "postgresql")
def _postgresql(element: Any, compiler: Any, **options: Any) -> str:
    return f'({compiler.process(element.clauses, **options)}) COLLATE "C"'


class _ByteLength(FunctionElement[int]):
    type = BigInteger()
    inherit_cache = True


def byte_length(text: ColumnElement[Any]) -> ColumnElement[int]:
    """Return the length of a text in bytes, 0 for NULL.

    Long texts are not read, except by SQLite before 3.43.
    """
    return func.coalesce(_ByteLength(text), 0)


@compiles(_ByteLength)
def _length_of_blob(element: Any, compiler: SQLCompiler, **options: Any) -> str:
    text = compiler.process(element.clauses, **options)
    return f"octet_length({text})" if sqlite_version_info >= (3, 43) else f"length(CAST({text} AS BLOB))"


@compiles(_ByteLength, "postgresql")
def _octet_length(element: Any, compiler: SQLCompiler, **options: Any) -> str:
    return f"octet_length({compiler.process(element.clauses, **options)})"


def dialect_insert(connection: Connection, table: Table) -> Any:
    """Return an insert with an ``ON CONFLICT`` clause; both databases have the same."""
    # Imported on demand: the other database's dialect costs a twentieth of the whole startup time.
    return import_module(f"sqlalchemy.dialects.{connection.dialect.name}").insert(table)
