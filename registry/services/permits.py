"""Checks of the mode in force before a write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from contractlog.compatibility.errors import (
    Denied,
    InvalidSubject,
    SubjectNotInImport,
    SubjectNotReadWrite,
    SubjectReadOnly,
)
from contractlog.compatibility.level import Mode
from contractlog.compatibility.names import GLOBAL_CONTEXT, Subject
from contractlog.compatibility.schema import Reference
from contractlog.registry.access.rights import Operation, Rights
from contractlog.registry.services.references import target_of
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Configured

__all__ = ["IMPORTING", "refuse_mode", "refuse_read_only", "require_context", "require_references", "taking_schemas"]

IMPORTING: Final = frozenset({Mode.IMPORT, Mode.FORWARD})
_READ_ONLY: Final = frozenset({Mode.READONLY, Mode.READONLY_OVERRIDE})


def taking_schemas(subject: Subject) -> Subject:
    """Return the subject.

    Raises:
        InvalidSubject: its name is not allowed, or it stands for a context or for all, which have only settings.
    """
    if not subject.name or subject.context == GLOBAL_CONTEXT:
        raise InvalidSubject(subject=str(subject))
    return subject.validated()


def refuse_read_only(subject: Subject, configured: Configured) -> None:
    """Raise ``SubjectReadOnly`` if the mode does not permit writes."""
    if configured.mode in _READ_ONLY:
        raise SubjectReadOnly(subject=str(subject), context=subject.context)


def refuse_mode(subject: Subject, configured: Configured, schema_id: int | None) -> None:
    """Raise unless the mode permits a registration: IMPORT or FORWARD with a given id, else READWRITE.

    Raises:
        SubjectReadOnly, SubjectNotInImport, SubjectNotReadWrite: it does not.
    """
    refuse_read_only(subject, configured)
    importing = configured.mode in IMPORTING
    if schema_id is not None and not importing:
        raise SubjectNotInImport(subject=str(subject), context=subject.context)
    if schema_id is None and importing:
        raise SubjectNotReadWrite(subject=str(subject), context=subject.context)


def require_context(rights: Rights, context: str) -> None:
    """Require write on all of a context, for operations on its ids, which all its subjects share.

    Raises:
        Denied: the caller lacks the permission.
    """
    if not rights.may_all(Operation.WRITE, context):
        raise Denied(operation=Operation.WRITE.value, subject=f":{context}:*")


def require_references(rights: Rights, snapshot: Snapshot, subject: Subject, references: Iterable[Reference]) -> None:
    """Require read permission on the subjects that a draft references, as references block deletion.

    References that a live version of the subject already has are permitted.

    Raises:
        Denied: the caller may not read a subject that the draft is the first to reference.
    """
    named = {(target_of(reference, subject), reference.version) for reference in references}
    denied = {pair for pair in named if not rights.may(Operation.READ, pair[0])}
    if denied:
        denied -= {
            (target_of(one, subject), one.version) for held in snapshot.history(subject) for one in held.references
        }
    if denied:
        first = min(str(target) for target, _ in denied)
        raise Denied(operation=Operation.READ.value, subject=first)
