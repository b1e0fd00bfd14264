"""Conditions on many keys are such that the database can use its index."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.dialects import sqlite

from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import in_texts


def test_a_list_of_keys_is_not_compared_with_a_boolean() -> None:
    """By ``(… IN …) = 1``, SQLite would scan the whole table."""
    c = tables.subjects.c
    statement = select(c.id).where(in_texts(c.key, "keys"), c.context == ".")
    assert "= 1" not in str(statement.compile(dialect=sqlite.dialect()))
