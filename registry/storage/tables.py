"""The tables; ``migrations/`` makes the same ones, and a test compares the two."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

__all__ = [
    "changes",
    "conformance",
    "contents",
    "contexts",
    "metadata",
    "retired",
    "schema_references",
    "schemas",
    "settings",
    "subjects",
    "versions",
]

NAMING: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata: Final = MetaData(naming_convention=NAMING)

# SQLite gives row numbers to INTEGER keys alone; PostgreSQL needs the room of BIGINT.
_number = BigInteger().with_variant(Integer, "sqlite")

#: The row ``.`` is locked first in every write; the counter only grows.
contexts: Final = Table(
    "contexts",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("next_schema_id", BigInteger, nullable=False),
)

#: ``key`` is a hash of context and name, because names may be longer than what an index holds.
#: ``revision`` grows with every change of the versions: what was judged at one revision holds while it stands.
subjects: Final = Table(
    "subjects",
    metadata,
    Column("id", _number, primary_key=True),
    Column("key", String(64), nullable=False, unique=True),
    Column("context", String(255), nullable=False),
    Column("name", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
)

#: Rows are never updated. ``submitted`` is null where it equals ``text``.
schemas: Final = Table(
    "schemas",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False),
    Column("normalized_hash", String(64), nullable=False),
    Column("guid", String(36), nullable=False, index=True),
    Column("type", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("submitted", Text),
    Column("references", Text),
    Column("metadata", Text),
    Column("rule_set", Text),
    Column("created_at", BigInteger, nullable=False),
)

#: The id that new registrations of a content reuse.
contents: Final = Table(
    "contents",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("schema_id", BigInteger, nullable=False),
    Index("ix_contents_context_schema_id", "context", "schema_id"),
)

#: Hard-deleted ids: they answer 40403 for ever.
retired: Final = Table(
    "retired",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("schema_id", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
)

versions: Final = Table(
    "versions",
    metadata,
    Column("subject_id", _number, ForeignKey("subjects.id"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("context", String(255), nullable=False),
    Column("schema_id", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),  # null: live
    Index("ix_versions_context_schema_id", "context", "schema_id"),
)

schema_references: Final = Table(
    "schema_references",
    metadata,
    Column("context", String(255), primary_key=True),
    Column("schema_id", BigInteger, primary_key=True, autoincrement=False),
    Column("target_subject_id", _number, ForeignKey("subjects.id"), primary_key=True),
    Column("target_version", Integer, primary_key=True, autoincrement=False),
    Index("ix_schema_references_target", "target_subject_id", "target_version"),
)

#: A scope is a subject, or a context with an empty name; null means inherit.
settings: Final = Table(
    "settings",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("context", String(255), nullable=False),
    Column("name", Text, nullable=False),
    Column("level", String(32)),
    Column("normalize", Boolean),
    Column("compatibility_policy", String(32)),
    Column("compatibility_group", Text),
    Column("own_policy", String(32)),
    Column("mode", String(32)),
)

#: Written in the transaction of its effect; no answer's truth relies on it.
changes: Final = Table(
    "changes",
    metadata,
    Column("sequence", _number, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", String(64), nullable=False),
    Column("target", Text, nullable=False),
    Column("before", String(64)),
    Column("after", String(64)),
)

#: Audit results, appended only; ``ranges`` is a hash of the offsets that were read, empty where none were.
conformance: Final = Table(
    "conformance",
    metadata,
    Column("sequence", _number, primary_key=True),
    Column("topic", String(255), nullable=False),
    Column("part", String(16), nullable=False),
    Column("ranges", String(64), nullable=False),
    Column("entry", Text, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Index("ix_conformance_topic_part_ranges", "topic", "part", "ranges"),
)
