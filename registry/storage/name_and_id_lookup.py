"""Lookup of versions and schemas by name, id or guid.

Aliases are followed, and plain names are looked up in all contexts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from sqlalchemy import Select, bindparam, func, select, tuple_

from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject, apply_alias
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.permissions import Permission, Permissions
from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import SELECT_REGISTERED, Snapshot, restrict_deleted, to_registered_schema
from contractlog.registry.storage.store_values import DeletedFilter, subject_key

__all__ = [
    "find_by_guid",
    "find_by_id",
    "find_namesakes",
    "find_shared_ids",
    "find_version",
    "follow_alias",
    "list_ids",
    "resolve_alias",
]

_S, _V, _U, _T = tables.schemas.c, tables.versions.c, tables.subjects.c, tables.settings.c
_CHUNK: Final = 500  #: contexts, or ids, per statement

# Built once: building a statement costs as much as running it. A version is read together with its subject's alias, so
# that requests for a subject without an alias need one query.
_ALIAS: Final = select(_T.alias).where(_T.key == bindparam("key"))
_OF_SUBJECT: Final = SELECT_REGISTERED.add_columns(_ALIAS.scalar_subquery().label("alias")).where(
    _U.key == bindparam("key")
)
_BY_NUMBER: Final = _OF_SUBJECT.order_by(_V.version.desc()).limit(1)
_LATEST: Final = restrict_deleted(_BY_NUMBER, DeletedFilter.EXCLUDED)
_NUMBERED: Final = {
    deleted: restrict_deleted(_BY_NUMBER, deleted).where(_V.version == bindparam("number")) for deleted in DeletedFilter
}

#: Order of the versions with an id: the earliest live one comes first, else the earliest of all.
_FIRST: Final = (_V.deleted_at.is_not(None), _V.created_at, _V.subject_id, _V.version)
_HAS_ID: Final = (_V.context == bindparam("context")) & (_V.schema_id == bindparam("id"))
_OF_SUBJECT_WITH_ID: Final = _OF_SUBJECT.where(_HAS_ID).order_by(*_FIRST).limit(1)


def _select_first(versions: Select[Any]) -> Select[Any]:
    """Choose one of many versions before their texts are read."""
    first = versions.order_by(*_FIRST).limit(1).subquery()
    return SELECT_REGISTERED.join(first, (first.c.subject_id == _V.subject_id) & (first.c.version == _V.version))


_KEYS: Final = select(_V.subject_id, _V.version)
_BY_ID: Final = _select_first(_KEYS.where(_HAS_ID))
_BY_GUID: Final = _select_first(
    _KEYS.join_from(tables.versions, tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id)).where(
        _S.guid == bindparam("guid")
    )
)


def resolve_alias(snapshot: Snapshot, subject: Subject, permissions: Permissions, operation: Permission) -> Subject:
    """Return the subject that a name refers to, for an operation on it.

    Raises:
        Denied: the name has an alias, and the operation is not permitted on its target.
    """
    return _require_target(follow_alias(snapshot, subject), subject, permissions, operation)


def _require_target(target: Subject, name: Subject, permissions: Permissions, operation: Permission) -> Subject:
    """Return the target of a name; the permission for the name itself was checked before."""
    if target != name:
        permissions.require(operation, target)
    return target


def follow_alias(snapshot: Snapshot, subject: Subject) -> Subject:
    """Return the subject that a name refers to, whoever asks: its alias, if it has one.

    An alias of an alias is not followed.
    """
    return apply_alias(snapshot.connection.execute(_ALIAS, {"key": subject_key(subject)}).scalar(), subject)


def find_version(
    snapshot: Snapshot, subject: Subject, number: int | None, deleted: DeletedFilter, permissions: Permissions
) -> RegisteredSchema | None:
    """Return one version of the subject that a name refers to; None as number is the newest live one.

    A plain name without such a version in the default context is looked up in the other contexts, as far as the
    permissions cover them.

    Raises:
        Denied: the name has an alias, and the caller may not read its target.
    """
    statement, values = (_LATEST, {}) if number is None else (_NUMBERED[deleted], {"number": number})
    row = snapshot.connection.execute(statement, {"key": subject_key(subject), **values}).first()
    if row is not None and not row.alias:
        return to_registered_schema(row)
    target = follow_alias(snapshot, subject) if row is None else apply_alias(row.alias, subject)
    _require_target(target, subject, permissions, Permission.READ)
    if target != subject:
        row = snapshot.connection.execute(statement, {"key": subject_key(target), **values}).first()
    if row is not None:
        return to_registered_schema(row)
    where = () if number is None else (_V.version == number,)
    others = find_namesakes(snapshot, target, DeletedFilter.EXCLUDED if number is None else deleted, *where)
    namesake = next((other for other in others if permissions.permits(Permission.READ, other)), None)
    return None if namesake is None else snapshot.version(namesake, number, deleted)


def find_namesakes(snapshot: Snapshot, subject: Subject, deleted: DeletedFilter, *where: Any) -> Iterator[Subject]:
    """Yield the subjects of this name with such a version in other contexts, by context.

    Names that have a context themselves have no namesakes.
    """
    if subject.context != DEFAULT_CONTEXT or not subject.name:
        return
    names = iter(sorted(snapshot.connection.execute(select(tables.contexts.c.name)).scalars()))
    while chunk := list(islice(names, _CHUNK)):
        matching = _contexts_with(snapshot, [Subject(name, subject.name) for name in chunk], deleted, *where)
        yield from (Subject(context, subject.name) for context in sorted(matching))


def _contexts_with(snapshot: Snapshot, subjects: Sequence[Subject], deleted: DeletedFilter, *where: Any) -> list[str]:
    keys = [subject_key(subject) for subject in subjects if subject.context != DEFAULT_CONTEXT]
    statement = (
        select(_U.context).join_from(tables.versions, tables.subjects, _U.id == _V.subject_id).where(_U.key.in_(keys))
    )
    return (
        list(snapshot.connection.execute(restrict_deleted(statement.where(*where).distinct(), deleted)).scalars())
        if keys
        else []
    )


def find_by_id(
    snapshot: Snapshot, schema_id: int, subject: Subject | None, permissions: Permissions
) -> RegisteredSchema | None:
    """Return a schema by id, as a version of the given subject if that has the id.

    The subject's context is that of the id. A plain name without the id is looked up in the other contexts; failing
    that, any version of the default context with the id is returned. A qualified name must have the id. A subject that
    the permissions do not cover has the same result as one that does not exist.
    """
    context = subject.context if subject else DEFAULT_CONTEXT
    if subject is not None and subject.name:
        schema = _find_version_with_id(snapshot, schema_id, subject, permissions)
        if schema is not None or context != DEFAULT_CONTEXT:
            return schema
    row = snapshot.connection.execute(_BY_ID, {"context": context, "id": schema_id}).first()
    return to_registered_schema(row) if row else None


def _find_version_with_id(
    snapshot: Snapshot, schema_id: int, subject: Subject, permissions: Permissions
) -> RegisteredSchema | None:
    def read_row(candidate: Subject) -> Any:
        values = {"key": subject_key(candidate), "context": candidate.context, "id": schema_id}
        return snapshot.connection.execute(_OF_SUBJECT_WITH_ID, values).first()

    row, target = None, subject
    if permissions.permits(Permission.READ, subject):
        row = read_row(subject)
        if row is not None and not row.alias:
            return to_registered_schema(row)
        target = follow_alias(snapshot, subject) if row is None else apply_alias(row.alias, subject)
        if target != subject:
            row = read_row(target) if permissions.permits(Permission.READ, target) else None
    if row is None:
        namesakes = find_namesakes(snapshot, target, DeletedFilter.INCLUDED, _V.schema_id == schema_id)
        namesake = next((other for other in namesakes if permissions.permits(Permission.READ, other)), None)
        row = read_row(namesake) if namesake else None
    return to_registered_schema(row) if row else None


def list_ids(snapshot: Snapshot, subject: Subject) -> set[tuple[str, int]]:
    """Return (context, id) of all schemas of a subject, which responses show under its name."""
    statement = select(_V.context, _V.schema_id).join_from(tables.versions, tables.subjects, _U.id == _V.subject_id)
    rows = snapshot.connection.execute(statement.where(_U.key == subject_key(subject)))
    return {(row.context, row.schema_id) for row in rows}


def find_shared_ids(snapshot: Snapshot, ids: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
    """Return those (context, id) that several versions have, so that responses show one of them."""
    rest, shared = iter(sorted(ids)), set[tuple[str, int]]()
    while chunk := list(islice(rest, _CHUNK)):
        statement = (
            select(_V.context, _V.schema_id)
            .where(tuple_(_V.context, _V.schema_id).in_(chunk))
            .group_by(_V.context, _V.schema_id)
            .having(func.count() > 1)
        )
        shared.update((row.context, row.schema_id) for row in snapshot.connection.execute(statement))
    return shared


def find_by_guid(snapshot: Snapshot, guid: str) -> RegisteredSchema | None:
    """Return a schema by guid, from any context."""
    row = snapshot.connection.execute(_BY_GUID, {"guid": guid}).first()
    return to_registered_schema(row) if row else None
