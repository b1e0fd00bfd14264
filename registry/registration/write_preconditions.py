"""Preconditions of a write: the name, mode and references of a subject, and permissions."""

from __future__ import annotations

from collections.abc import Iterable

from contractlog.compatibility.errors import (
    Denied,
    OperationNotPermitted,
    SubjectNotInImport,
    SubjectNotReadWrite,
    SubjectReadOnly,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import IMPORT_MODES, READ_ONLY_MODES
from contractlog.compatibility.schema import Reference
from contractlog.registry.access.permissions import Permission, Permissions
from contractlog.registry.registration.references import resolve_target
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import ScopeSettings

__all__ = [
    "require_comparable_latest_version",
    "require_context_permission",
    "require_reference_permissions",
    "require_registration_mode",
    "require_writable_mode",
]


def require_writable_mode(subject: Subject, configured: ScopeSettings) -> None:
    """Raise ``SubjectReadOnly`` if the mode does not permit writes."""
    if configured.mode in READ_ONLY_MODES:
        raise SubjectReadOnly(subject=str(subject), context=subject.context)


def require_registration_mode(subject: Subject, configured: ScopeSettings, schema_id: int | None) -> None:
    """Raise unless the mode permits a registration: IMPORT or FORWARD with a given id, else READWRITE.

    Raises:
        SubjectReadOnly, SubjectNotInImport, SubjectNotReadWrite: it does not.
    """
    require_writable_mode(subject, configured)
    importing = configured.mode in IMPORT_MODES
    if schema_id is not None and not importing:
        raise SubjectNotInImport(subject=str(subject), context=subject.context)
    if schema_id is None and importing:
        raise SubjectNotReadWrite(subject=str(subject), context=subject.context)


def require_comparable_latest_version(snapshot: Snapshot, subject: Subject) -> None:
    """Reject a new version of a subject whose newest version cannot be parsed, and so not be compared.

    Raises:
        OperationNotPermitted: the newest live version was imported, and cannot be parsed.
    """
    kind = snapshot.newest_verbatim_type(subject)
    if kind is not None:
        raise OperationNotPermitted(
            f"Subject {subject} in context {subject.context} is closed to registration: its newest version, of type "
            f"{kind}, came with an import and is not understood by this release"
        )


def require_context_permission(permissions: Permissions, context: str) -> None:
    """Require write on all of a context, for operations on its ids, which all its subjects share.

    Raises:
        Denied: the caller lacks the permission.
    """
    if not permissions.permits_all(Permission.WRITE, context):
        raise Denied(operation=Permission.WRITE.value, subject=f":{context}:*")


def require_reference_permissions(
    permissions: Permissions, snapshot: Snapshot, subject: Subject, references: Iterable[Reference]
) -> None:
    """Require read permission on the subjects that a draft references, as references block deletion.

    References that a live version of the subject already has are permitted.

    Raises:
        Denied: the caller may not read a subject that the draft is the first to reference.
    """
    targets = {(resolve_target(reference, subject), reference.version) for reference in references}
    denied = {pair for pair in targets if not permissions.permits(Permission.READ, pair[0])}
    if denied:
        denied -= {
            (resolve_target(reference, subject), reference.version)
            for version in snapshot.history(subject)
            for reference in version.references
        }
    if denied:
        first = min(str(target) for target, _ in denied)
        raise Denied(operation=Permission.READ.value, subject=first)
