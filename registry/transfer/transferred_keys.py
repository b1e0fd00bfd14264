"""Encryption keys of an import or export: their lines, and changes of a store.

DEKs are transferred as they are stored, wrapped by their KEK; plaintext keys are neither read nor written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.compatibility.errors import InvalidKeyField, InvalidSubject
from contractlog.contracts.encryption.algorithms import DekAlgorithm
from contractlog.registry.access.permissions import KeyPermissions, Permission
from contractlog.registry.features.dek_registry import queries
from contractlog.registry.features.dek_registry.keks import MAX_KEYS
from contractlog.registry.features.dek_registry.key_values import (
    DekId,
    DekKey,
    StoredDek,
    StoredKek,
    decode_wrapped_key,
    validate_kek,
    validate_kek_name,
    validate_subject,
)
from contractlog.registry.storage.change_log import ChangeLogEntry
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction
from contractlog.registry.transfer import import_parsers
from contractlog.registry.transfer.import_parsers import InvalidField
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import OddityKind, TransferReport

__all__ = ["KeyPlan", "dek_body", "kek_body", "leave_out_keys", "parse_dek", "parse_kek", "plan_keys", "write_keys"]

_MAX_PROPERTIES: Final = 100  #: of the KMS of a KEK


def kek_body(kek: StoredKek) -> dict[str, Any]:
    """Return the members of a line."""
    return {
        "kind": "kek",
        "name": kek.name,
        "kmsType": kek.kms_type,
        "kmsKeyId": kek.kms_key_id,
        "kmsProps": dict(sorted(kek.kms_props.items())) if kek.kms_props else None,
        "doc": kek.doc or None,
        "shared": kek.shared,
        "updated": kek.updated_at,
        "deleted": kek.deleted or None,
    }


def dek_body(dek: StoredDek) -> dict[str, Any]:
    """Return the members of a line."""
    return {
        "kind": "dek",
        "kek": dek.id.kek_name,
        "subject": str(dek.id.subject),
        "algorithm": dek.id.algorithm.value,
        "version": dek.id.version,
        "encryptedKeyMaterial": dek.wrapped_key,
        "created": dek.created_at,
        "deleted": dek.deleted or None,
    }


def parse_kek(body: Mapping[str, Any]) -> StoredKek:
    """Parse a KEK, with the members of a line or, except times, of a response of a registry.

    Raises:
        KeyError: a member is missing.
        InvalidField: a member is not valid, or is a credential of a KMS.
    """
    properties = import_parsers.convert_body(body.get("kmsProps"), dict[str, str] | None, "kmsProps")
    if properties and len(properties) > _MAX_PROPERTIES:
        raise InvalidField(f"`kmsProps` has more than {_MAX_PROPERTIES} members")
    try:
        return validate_kek(
            StoredKek(
                name=validate_kek_name(import_parsers.read_text(body, "name")),
                kms_type=import_parsers.read_text(body, "kmsType"),
                kms_key_id=import_parsers.read_text(body, "kmsKeyId"),
                kms_props=properties or None,
                doc=import_parsers.read_text(body, "doc", default="") if body.get("doc") is not None else None,
                shared=import_parsers.read_flag(body, "shared", default=False),
                updated_at=_read_time(body, "updated"),
                deleted=import_parsers.read_flag(body, "deleted", default=False),
            )
        )
    except InvalidKeyField as error:
        raise InvalidField(error.message) from None


def parse_dek(body: Mapping[str, Any]) -> StoredDek:
    """Parse a DEK, with the members of a line.

    Raises:
        KeyError: a member is missing.
        InvalidField: a member is not valid, or the key is not wrapped.
    """
    name = import_parsers.read_text(body, "algorithm")
    if name not in set(DekAlgorithm):
        raise InvalidField("`algorithm`: it is not an algorithm that this release supports")
    try:
        dek_id = DekId(
            validate_kek_name(import_parsers.read_text(body, "kek")),
            validate_subject(str(import_parsers.parse_subject(body["subject"]))),
            DekAlgorithm(name),
            import_parsers.read_version(body),
        )
        wrapped = import_parsers.read_text(body, "encryptedKeyMaterial")
        decode_wrapped_key(wrapped, dek_id.algorithm)
    except (InvalidKeyField, InvalidSubject) as error:
        raise InvalidField(error.message) from None
    deleted = import_parsers.read_flag(body, "deleted", default=False)
    return StoredDek(dek_id, wrapped, _read_time(body, "created"), deleted)


def _read_time(body: Mapping[str, Any], name: str) -> int:
    return import_parsers.read_time(body, name) or 0


def leave_out_keys(contents: RegistryContents, permissions: KeyPermissions, report: TransferReport) -> None:
    """Remove the keys that a caller may not write, and report them.

    Shared KEKs need the permission on all KEKs: the registry unwraps their keys, which could be those of another KEK.
    """
    denied = sorted(
        name
        for name, kek in contents.keks.items()
        if not (
            permissions.permits_all(Permission.WRITE) if kek.shared else permissions.permits(Permission.WRITE, name)
        )
    )
    for name in denied:
        del contents.keks[name]
        report.odd(OddityKind.KEYS_DENIED, f"KEK {name}")
    contents.deks = {key: dek for key, dek in contents.deks.items() if dek.id.kek_name in contents.keks}


@dataclass(slots=True)
class KeyPlan:
    """Changes of the encryption keys of a store; removals are done first."""

    removed_deks: list[StoredDek] = field(default_factory=list)
    removed_keks: list[StoredKek] = field(default_factory=list)
    added_keks: list[StoredKek] = field(default_factory=list)
    changed_keks: list[StoredKek] = field(default_factory=list)
    added_deks: list[StoredDek] = field(default_factory=list)
    changed_deks: list[StoredDek] = field(default_factory=list)  #: to soft-delete or to undelete
    conflicts: list[str] = field(default_factory=list)

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield the number of changes of each kind."""
        yield "KEKs changed", len(self.added_keks) + len(self.changed_keks) + len(self.removed_keks)
        yield "DEKs changed", len(self.added_deks) + len(self.changed_deks) + len(self.removed_deks)

    def entries(self) -> Iterator[ChangeLogEntry]:
        """Yield the entries of the change log."""
        kek_actions: Mapping[str, Sequence[StoredKek]] = {
            "kek.hard_deleted": self.removed_keks,
            "kek.created": self.added_keks,
            "kek.updated": self.changed_keks,
        }
        dek_actions: Mapping[str, Sequence[StoredDek]] = {
            "dek.hard_deleted": self.removed_deks,
            "dek.created": self.added_deks,
            "dek.soft_deleted": [dek for dek in self.changed_deks if dek.deleted],
            "dek.undeleted": [dek for dek in self.changed_deks if not dek.deleted],
        }
        for action, keks in kek_actions.items():
            yield from (ChangeLogEntry("", action, kek.name, details={"bypass": "IMPORT"}) for kek in keks)
        for action, deks in dek_actions.items():
            for dek in deks:
                yield ChangeLogEntry("", action, dek.id.change_log_name, details={"bypass": "IMPORT"})


def plan_keys(snapshot: Snapshot, source: RegistryContents) -> KeyPlan:
    """Compare the encryption keys of a store with those of a registry's contents."""
    plan, deletions = KeyPlan(), source.deletions
    if not (source.keks or source.deks or deletions.keks or deletions.deks):
        return plan
    keks = {kek.name: kek for kek in queries.stream_keks(snapshot)}
    deks = {dek.key: dek for dek in queries.stream_deks(snapshot)}
    removed = {key for key, wrapped in deletions.deks if key in deks and deks[key].wrapped_key == wrapped}
    plan.removed_deks = [deks.pop(key) for key in sorted(removed)]
    in_use = {dek.id.kek_name for dek in deks.values()} | {dek.id.kek_name for dek in source.deks.values()}
    plan.removed_keks = [keks.pop(name) for name in sorted(deletions.keks & keks.keys() - in_use - source.keks.keys())]
    _plan_keks(plan, source, keks)
    _plan_deks(plan, source, deks)
    plan.conflicts += _find_live_deks_of_deleted_keks(plan, source, deks.values())
    for kind, number in (("KEKs", len(keks) + len(plan.added_keks)), ("DEKs", len(deks) + len(plan.added_deks))):
        if number > MAX_KEYS:
            plan.conflicts.append(f"there would be {number:,} {kind}; a registry has at most {MAX_KEYS:,}")
    return plan


def _plan_keks(plan: KeyPlan, source: RegistryContents, stored: Mapping[str, StoredKek]) -> None:
    for kek in source.keks.values():
        existing = stored.get(kek.name)
        if existing is None:
            plan.added_keks.append(kek)
        elif (existing.kms_type, existing.kms_key_id) != (kek.kms_type, kek.kms_key_id):
            plan.conflicts.append(f"the KEK {kek.name} has another key of a KMS here")
        elif (existing.facts, existing.deleted) != (kek.facts, kek.deleted):
            plan.changed_keks.append(kek)


def _plan_deks(plan: KeyPlan, source: RegistryContents, stored: Mapping[DekKey, StoredDek]) -> None:
    for key, dek in source.deks.items():
        existing = stored.get(key)
        if existing is None:
            plan.added_deks.append(dek)
        elif existing.wrapped_key != dek.wrapped_key:
            plan.conflicts.append(f"the DEK {dek.id.change_log_name} is another key here, or was wrapped again")
        elif existing.deleted != dek.deleted:
            plan.changed_deks.append(dek)


def _find_live_deks_of_deleted_keks(
    plan: KeyPlan, source: RegistryContents, existing: Iterable[StoredDek]
) -> Iterator[str]:
    """Yield a conflict for each KEK that would be deleted although it has live DEKs here."""
    deleted = {kek.name for kek in (*plan.added_keks, *plan.changed_keks) if kek.deleted}
    live = {dek.id.kek_name for dek in existing if not source.deks.get(dek.key, dek).deleted}
    for name in sorted(deleted & live):
        yield f"the KEK {name} is deleted in the source, and has live DEKs here"


def write_keys(transaction: Transaction, plan: KeyPlan) -> None:
    """Carry out a plan."""
    queries.delete_deks(transaction, [dek.id for dek in plan.removed_deks])
    for kek in plan.removed_keks:
        queries.delete_kek(transaction, kek.name)
    queries.import_keks(transaction, plan.added_keks, plan.changed_keks)
    queries.import_deks(transaction, plan.added_deks)
    for deleted in (True, False):
        changed = [dek.id for dek in plan.changed_deks if dek.deleted is deleted]
        queries.mark_deks(transaction, changed, deleted=deleted)
