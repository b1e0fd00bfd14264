"""Queries of schemas: lists, filtered by prefix, alias, rule type and association; users of an id."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, literal, or_, select, true, tuple_

from contractlog.compatibility.identifiers import Subject, Version
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.current_caller import filter_readable
from contractlog.registry.access.permissions import parse_prefix
from contractlog.registry.features.subjects.queries import QUALIFIED_NAME, prefix_conditions
from contractlog.registry.storage import tables
from contractlog.registry.storage.associations import StoredAssociation, find_by_subjects
from contractlog.registry.storage.dialects import byte_length, in_numbers, order_by_bytes
from contractlog.registry.storage.snapshot import Snapshot, restrict_deleted, to_registered_schema
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page, SubjectVersion, subject_key

__all__ = [
    "ListedSchema",
    "ListedVersion",
    "SchemaFilter",
    "SchemaListing",
    "list_schemas",
    "list_subjects_of_id",
    "list_versions_of_id",
    "read_schemas",
]

_S, _V, _U, _T, _A = (
    tables.schemas.c,
    tables.versions.c,
    tables.subjects.c,
    tables.settings.c,
    tables.associations.c,
)
#: Schemas in the form of ``SELECT_REGISTERED``; their versions are known.
_CONTENTS: Final = select(
    *(column for column in tables.schemas.c if column.name not in {"created_at", "submitted"}),
    *(literal("").label(name) for name in ("subject_context", "name")),
    *(literal(0).label(name) for name in ("version", "created_at", "deleted_at")),
).where(_S.context == bindparam("context"), in_numbers(_S.id, "ids"))
_ASSOCIATION_BYTES: Final = 1_000  #: of an association in a response, at most about
_RULES_AT_ONCE: Final = 10  #: sets of rules that are read from the database together
_NO_LIFECYCLE: Final = "NONE"  #: matches subjects without associations


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFilter:
    """Filter of versions; empty members match everything."""

    prefix: str = ""
    aliases: bool = False  #: include subjects that an alias with the prefix leads to
    deleted: DeletedFilter = DeletedFilter.EXCLUDED
    latest_only: bool = False
    rule_type: str = ""
    resource_type: str = ""
    association_types: tuple[str, ...] = ()
    lifecycles: tuple[str, ...] = ()

    @property
    def by_association(self) -> bool:
        """Return True if the filter depends on associations."""
        return bool(self.resource_type or self.association_types or self.lifecycles)

    @property
    def can_match(self) -> bool:
        """Return False if nothing can match: no stored name contains a NUL, and PostgreSQL rejects such text."""
        return "\0" not in "".join((self.resource_type, *self.association_types))


@dataclass(frozen=True, slots=True)
class ListedVersion:
    """A version of a list, without its schema."""

    subject: Subject
    version: int
    schema_id: int
    timestamp: int
    deleted: bool
    size: int  #: bytes that the response needs for it, about


@dataclass(frozen=True, slots=True)
class ListedSchema:
    """A version, with the aliases and the associations of its subject."""

    schema: RegisteredSchema
    aliases: tuple[str, ...] = ()
    associations: tuple[StoredAssociation, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaListing:
    """A page of versions in order, with the aliases and the associations of their subjects.

    It belongs to one state of the database. The schemas are read later, in pieces; they never change.
    """

    versions: tuple[ListedVersion, ...] = ()
    aliases: Mapping[Subject, tuple[str, ...]] = field(default_factory=dict)
    associations: Mapping[Subject, tuple[StoredAssociation, ...]] = field(default_factory=dict)
    read_bytes: int = 0  #: of rules that were read to choose the versions

    @property
    def size(self) -> int:
        """The bytes that were read, or are needed for the response."""
        return self.read_bytes + sum(version.size for version in self.versions)

    def split(self, piece_bytes: int) -> Iterator[tuple[ListedVersion, ...]]:
        """Yield the versions in pieces, of which the larger ones have a single version."""
        piece: list[ListedVersion] = []
        size = 0
        for version in self.versions:
            if piece and size + version.size > piece_bytes:
                yield tuple(piece)
                piece, size = [], 0
            piece.append(version)
            size += version.size
        if piece:
            yield tuple(piece)


def list_schemas(snapshot: Snapshot, schema_filter: SchemaFilter, page: Page) -> SchemaListing:
    """List versions by subject and number."""
    conditions = prefix_conditions(schema_filter.prefix)
    if conditions is None or not schema_filter.can_match:
        return SchemaListing()
    aliases = _find_aliases(snapshot, schema_filter.prefix) if schema_filter.aliases else {}
    if aliases:
        conditions = [or_(and_(true(), *conditions), _U.key.in_([subject_key(subject) for subject in aliases]))]
    keys: Select[Any] = select(_V.subject_id, _V.version).join_from(
        tables.versions, tables.subjects, _U.id == _V.subject_id
    )
    keys = restrict_deleted(keys.where(*conditions), schema_filter.deleted)
    if schema_filter.latest_only:
        keys = keys.where(_V.version == _latest_version(schema_filter.deleted))
    if schema_filter.by_association:
        keys = keys.where(_association_condition(schema_filter))
    keys = keys.order_by(order_by_bytes(QUALIFIED_NAME), _V.version)
    read_bytes = 0
    if schema_filter.rule_type:
        keys, read_bytes = _select_with_rule(snapshot, keys, schema_filter.rule_type, page)
    else:
        keys = page.of(keys)
    rows = snapshot.connection.execute(_describe_versions(keys)).all()
    subjects = {row.subject_id: Subject(row.context, row.name) for row in rows}
    associations = find_by_subjects(snapshot, subjects.values())
    sizes = {
        subject: _ASSOCIATION_BYTES * len(associations.get(subject, ())) + sum(map(len, aliases.get(subject, ())))
        for subject in subjects.values()
    }
    return SchemaListing(
        tuple(
            ListedVersion(
                (subject := subjects[row.subject_id]),
                row.version,
                row.schema_id,
                row.created_at,
                row.deleted_at is not None,
                row.size + sizes[subject],
            )
            for row in rows
        ),
        {subject: tuple(names) for subject, names in aliases.items()},
        {subject: tuple(some) for subject, some in associations.items()},
        read_bytes,
    )


def _describe_versions(keys: Select[Any]) -> Select[Any]:
    """Return the statement that reads the chosen versions in order, without their texts."""
    chosen = keys.subquery()
    size = sum((byte_length(column) for column in (_S.references, _S.metadata, _S.rule_set)), byte_length(_S.text))
    columns = (_V.subject_id, _V.version, _V.schema_id, _V.created_at, _V.deleted_at, _U.context, _U.name)
    statement: Select[Any] = (
        select(*columns, size.label("size"))
        .join_from(tables.versions, tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id))
        .join(tables.subjects, _U.id == _V.subject_id)
        .join(chosen, (chosen.c.subject_id == _V.subject_id) & (chosen.c.version == _V.version))
    )
    return statement.order_by(order_by_bytes(QUALIFIED_NAME), _V.version)


def read_schemas(
    snapshot: Snapshot, listing: SchemaListing, versions: Sequence[ListedVersion]
) -> Iterator[ListedSchema]:
    """Yield some versions of a list with their schemas, without those that were hard-deleted since."""
    by_context: dict[str, set[int]] = {}
    for version in versions:
        by_context.setdefault(version.subject.context, set()).add(version.schema_id)
    contents = {
        (context, row.id): to_registered_schema(row)
        for context, ids in by_context.items()
        for row in snapshot.connection.execute(_CONTENTS, {"context": context, "ids": ids})
    }
    for version in versions:
        subject = version.subject
        content = contents.get((subject.context, version.schema_id))
        if content is not None:
            schema = replace(
                content,
                subject=subject,
                version=Version(version.version),
                timestamp=version.timestamp,
                deleted=version.deleted,
            )
            yield ListedSchema(schema, listing.aliases.get(subject, ()), listing.associations.get(subject, ()))


def _latest_version(deleted: DeletedFilter) -> ColumnElement[int]:
    later = tables.versions.alias("later")
    statement = select(func.max(later.c.version)).where(later.c.subject_id == _V.subject_id)
    if deleted is DeletedFilter.EXCLUDED:
        statement = statement.where(later.c.deleted_at.is_(None))
    return statement.correlate(tables.versions).scalar_subquery()


def _association_condition(schema_filter: SchemaFilter) -> ColumnElement[bool]:
    """Return the condition on associations; the lifecycle NONE matches subjects without any."""
    bound = select(1).where(_A.subject_key == _U.key)
    if schema_filter.resource_type:
        bound = bound.where(_A.resource_type == schema_filter.resource_type)
    if schema_filter.association_types:
        bound = bound.where(_A.association_type.in_(schema_filter.association_types))
    if not schema_filter.lifecycles:
        return bound.exists()
    lifecycles = [lifecycle for lifecycle in schema_filter.lifecycles if lifecycle != _NO_LIFECYCLE]
    with_lifecycle: ColumnElement[bool] = bound.where(_A.lifecycle.in_(lifecycles)).exists()
    return or_(with_lifecycle, ~bound.exists()) if _NO_LIFECYCLE in schema_filter.lifecycles else with_lifecycle


def _find_aliases(snapshot: Snapshot, prefix: str) -> dict[Subject, list[str]]:
    """Return the readable subjects that aliases with the prefix lead to, each with the aliases."""
    scoped = _T.alias.is_not(None) & (_T.alias != "")
    ranges = parse_prefix(prefix)
    aliases: dict[Subject, list[str]] = {}
    for row in snapshot.connection.execute(select(_T.context, _T.name, _T.alias).where(scoped)):
        name = Subject(row.context, row.name)
        if not any(subject_range.contains(name) for subject_range in ranges):
            continue
        alias = Subject.parse(row.alias)
        target = alias if row.alias.startswith(":.") else Subject(name.context, alias.name)
        aliases.setdefault(target, []).append(str(name))
    return {subject: sorted(aliases[subject]) for subject in filter_readable(aliases)}


def _select_with_rule(snapshot: Snapshot, keys: Select[Any], rule_type: str, page: Page) -> tuple[Select[Any], int]:
    """Return the versions of a page that have a rule of a type, and the number of bytes that were read.

    Rules are read one by one until the page is full.
    """
    read_bytes = 0

    def has_rule(rule_set: str) -> bool:
        nonlocal read_bytes
        read_bytes += len(rule_set)
        return rule_type in _list_rule_types(rule_set)

    rules = (
        keys.join(tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id))
        .where(_S.rule_set.is_not(None))
        .add_columns(_S.rule_set)
    )
    rows = snapshot.connection.execute(rules, execution_options={"yield_per": _RULES_AT_ONCE})
    matching = (row for row in rows if has_rule(row.rule_set))
    chosen = [(row.subject_id, row.version) for row in islice(matching, page.start, page.start + page.limit)]
    rows.close()
    statement = select(_V.subject_id, _V.version).where(tuple_(_V.subject_id, _V.version).in_(chosen))
    return statement, read_bytes


def _list_rule_types(rule_set: str) -> Iterator[str]:
    body = json.loads(rule_set)
    for kind in ("migrationRules", "domainRules", "encodingRules"):
        yield from (rule.get("type") or "" for rule in body.get(kind) or ())


def list_versions_of_id(
    snapshot: Snapshot, context: str, schema_id: int, deleted: DeletedFilter, page: Page = WHOLE_LIST
) -> list[SubjectVersion]:
    """List the versions with an id, by the names of their subjects."""
    statement = (
        select(_U.context, _U.name, _V.version, _V.deleted_at)
        .join_from(tables.versions, tables.subjects, _U.id == _V.subject_id)
        .where(_V.context == context, _V.schema_id == schema_id)
        .order_by(order_by_bytes(_U.name), _V.version)
    )
    rows = snapshot.connection.execute(page.of(restrict_deleted(statement, deleted)))
    return [SubjectVersion(Subject(row.context, row.name), row.version, row.deleted_at is not None) for row in rows]


def list_subjects_of_id(
    snapshot: Snapshot, context: str, schema_id: int, deleted: DeletedFilter, page: Page = WHOLE_LIST
) -> list[str]:
    """List the names of the subjects with an id."""
    subject_ids = restrict_deleted(
        select(_V.subject_id).where(_V.context == context, _V.schema_id == schema_id), deleted
    )
    statement = select(QUALIFIED_NAME).where(_U.id.in_(subject_ids)).order_by(order_by_bytes(_U.name))
    return list(snapshot.connection.execute(page.of(statement)).scalars())
