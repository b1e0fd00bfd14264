"""Schemas of many subjects, filtered by prefix, alias, rule type and association."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, true, tuple_

from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.actor import readable
from contractlog.registry.access.prefixes import parse_prefix
from contractlog.registry.storage import tables
from contractlog.registry.storage.associations import Association, of_subjects
from contractlog.registry.storage.bytewise import bytewise
from contractlog.registry.storage.listing import QUALIFIED, starting_with
from contractlog.registry.storage.paging import Page
from contractlog.registry.storage.reads import REGISTERED, Snapshot, only, registered
from contractlog.registry.storage.values import Seen, key_of

__all__ = ["Extended", "Wanted", "extended"]

_S, _V, _U, _T, _A = (
    tables.schemas.c,
    tables.versions.c,
    tables.subjects.c,
    tables.settings.c,
    tables.associations.c,
)
_UNBOUND: Final = "NONE"  #: matches subjects without associations


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Filter of versions; empty members match everything."""

    prefix: str = ""
    aliases: bool = False  #: include subjects that an alias with the prefix leads to
    seen: Seen = Seen.LIVE
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
    def possible(self) -> bool:
        """Return False if nothing can match: no stored name contains a NUL, and PostgreSQL rejects such text."""
        return "\0" not in "".join((self.resource_type, *self.association_types))


@dataclass(frozen=True, slots=True)
class Extended:
    """A version, with the aliases and the associations of its subject."""

    schema: RegisteredSchema
    aliases: tuple[str, ...] = ()
    associations: tuple[Association, ...] = ()


def extended(snapshot: Snapshot, wanted: Wanted, page: Page) -> list[Extended]:
    """List versions by subject and number."""
    conditions = starting_with(wanted.prefix)
    if conditions is None or not wanted.possible:
        return []
    named = _aliases(snapshot, wanted.prefix) if wanted.aliases else {}
    if named:
        conditions = [or_(and_(true(), *conditions), _U.key.in_([key_of(subject) for subject in named]))]
    keys: Select[Any] = select(_V.subject_id, _V.version).join_from(
        tables.versions, tables.subjects, _U.id == _V.subject_id
    )
    keys = only(keys.where(*conditions), wanted.seen)
    if wanted.latest_only:
        keys = keys.where(_V.version == _latest(wanted.seen))
    if wanted.by_association:
        keys = keys.where(_bound(wanted))
    keys = keys.order_by(bytewise(QUALIFIED), _V.version)
    chosen = _with_rule(snapshot, keys, wanted.rule_type, page) if wanted.rule_type else page.of(keys)
    found = _read(snapshot, chosen)
    subjects = {one.subject for one in found if one.subject}
    bound = of_subjects(snapshot, subjects)
    nothing = Subject("", "")
    return [
        Extended(one, tuple(named.get(one.subject or nothing, ())), tuple(bound.get(one.subject or nothing, ())))
        for one in found
    ]


def _read(snapshot: Snapshot, keys: Select[Any]) -> list[RegisteredSchema]:
    """Read the chosen versions in order; texts of other versions are not read."""
    chosen = keys.subquery()
    statement: Select[Any] = REGISTERED.join(
        chosen, (chosen.c.subject_id == _V.subject_id) & (chosen.c.version == _V.version)
    )
    rows = snapshot.connection.execute(statement.order_by(bytewise(QUALIFIED), _V.version))
    return [registered(row) for row in rows]


def _latest(seen: Seen) -> ColumnElement[int]:
    other = tables.versions.alias("later")
    statement = select(func.max(other.c.version)).where(other.c.subject_id == _V.subject_id)
    if seen is Seen.LIVE:
        statement = statement.where(other.c.deleted_at.is_(None))
    return statement.correlate(tables.versions).scalar_subquery()


def _bound(wanted: Wanted) -> ColumnElement[bool]:
    """Return the condition on associations; the lifecycle NONE matches subjects without any."""
    bound = select(1).where(_A.subject_key == _U.key)
    if wanted.resource_type:
        bound = bound.where(_A.resource_type == wanted.resource_type)
    if wanted.association_types:
        bound = bound.where(_A.association_type.in_(wanted.association_types))
    if not wanted.lifecycles:
        return bound.exists()
    named = [one for one in wanted.lifecycles if one != _UNBOUND]
    alive: ColumnElement[bool] = bound.where(_A.lifecycle.in_(named)).exists()
    return or_(alive, ~bound.exists()) if _UNBOUND in wanted.lifecycles else alive


def _aliases(snapshot: Snapshot, prefix: str) -> dict[Subject, list[str]]:
    """Return the readable subjects that aliases with the prefix lead to, each with the aliases."""
    scoped = _T.alias.is_not(None) & (_T.alias != "")
    ranges = parse_prefix(prefix)
    found: dict[Subject, list[str]] = {}
    for row in snapshot.connection.execute(select(_T.context, _T.name, _T.alias).where(scoped)):
        name = Subject(row.context, row.name)
        if not any(one.contains(name) for one in ranges):
            continue
        alias = Subject.parse(row.alias)
        meant = alias if row.alias.startswith(":.") else Subject(name.context, alias.name)
        found.setdefault(meant, []).append(str(name))
    return {subject: sorted(found[subject]) for subject in readable(found)}


def _with_rule(snapshot: Snapshot, keys: Select[Any], rule_type: str, page: Page) -> Select[Any]:
    """Return the versions of a page that have a rule of a type.

    Rules are read one by one until the page is full.
    """
    rules = (
        keys.join(tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id))
        .where(_S.rule_set.is_not(None))
        .add_columns(_S.rule_set)
    )
    start = max(page.offset, 0)
    matching = (row for row in snapshot.connection.execute(rules) if rule_type in _rule_types(row.rule_set))
    chosen = [(row.subject_id, row.version) for row in islice(matching, start, start + page.limit)]
    return select(_V.subject_id, _V.version).where(tuple_(_V.subject_id, _V.version).in_(chosen))


def _rule_types(rule_set: str) -> Iterator[str]:
    body = json.loads(rule_set)
    for kind in ("migrationRules", "domainRules", "encodingRules"):
        yield from (rule.get("type") or "" for rule in body.get(kind) or ())
