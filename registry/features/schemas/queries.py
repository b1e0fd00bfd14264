"""Queries of schemas: lists, filtered by prefix, alias, rule type and association; users of an id."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, true, tuple_

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.current_caller import filter_readable
from contractlog.registry.access.permissions import parse_prefix
from contractlog.registry.features.subjects.queries import QUALIFIED_NAME, prefix_conditions
from contractlog.registry.storage import tables
from contractlog.registry.storage.associations import StoredAssociation, find_by_subjects
from contractlog.registry.storage.dialects import order_by_bytes
from contractlog.registry.storage.snapshot import SELECT_REGISTERED, Snapshot, restrict_deleted, to_registered_schema
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page, SubjectVersion, subject_key

__all__ = [
    "ListedSchema",
    "SchemaFilter",
    "list_schemas",
    "list_subjects_of_id",
    "list_versions_of_id",
]

_S, _V, _U, _T, _A = (
    tables.schemas.c,
    tables.versions.c,
    tables.subjects.c,
    tables.settings.c,
    tables.associations.c,
)
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
class ListedSchema:
    """A version, with the aliases and the associations of its subject."""

    schema: RegisteredSchema
    aliases: tuple[str, ...] = ()
    associations: tuple[StoredAssociation, ...] = ()


def list_schemas(snapshot: Snapshot, schema_filter: SchemaFilter, page: Page) -> list[ListedSchema]:
    """List versions by subject and number."""
    conditions = prefix_conditions(schema_filter.prefix)
    if conditions is None or not schema_filter.can_match:
        return []
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
    page_keys = (
        _select_with_rule(snapshot, keys, schema_filter.rule_type, page) if schema_filter.rule_type else page.of(keys)
    )
    schemas = _read_versions(snapshot, page_keys)
    subjects = {schema.subject for schema in schemas if schema.subject}
    associations = find_by_subjects(snapshot, subjects)
    nothing = Subject("", "")
    return [
        ListedSchema(
            schema,
            tuple(aliases.get(schema.subject or nothing, ())),
            tuple(associations.get(schema.subject or nothing, ())),
        )
        for schema in schemas
    ]


def _read_versions(snapshot: Snapshot, keys: Select[Any]) -> list[RegisteredSchema]:
    """Read the chosen versions in order; texts of other versions are not read."""
    chosen = keys.subquery()
    statement: Select[Any] = SELECT_REGISTERED.join(
        chosen, (chosen.c.subject_id == _V.subject_id) & (chosen.c.version == _V.version)
    )
    rows = snapshot.connection.execute(statement.order_by(order_by_bytes(QUALIFIED_NAME), _V.version))
    return [to_registered_schema(row) for row in rows]


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


def _select_with_rule(snapshot: Snapshot, keys: Select[Any], rule_type: str, page: Page) -> Select[Any]:
    """Return the versions of a page that have a rule of a type.

    Rules are read one by one until the page is full.
    """
    rules = (
        keys.join(tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id))
        .where(_S.rule_set.is_not(None))
        .add_columns(_S.rule_set)
    )
    matching = (row for row in snapshot.connection.execute(rules) if rule_type in _list_rule_types(row.rule_set))
    chosen = [(row.subject_id, row.version) for row in islice(matching, page.start, page.start + page.limit)]
    return select(_V.subject_id, _V.version).where(tuple_(_V.subject_id, _V.version).in_(chosen))


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
