"""Contracts of an import or export: their lines, and changes of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from contractlog.compatibility.errors import InvalidContract
from contractlog.compatibility.identifiers import MAX_VERSION
from contractlog.contracts.odcs.canonical_contract import canonicalize_contract
from contractlog.registry.features.contracts import queries
from contractlog.registry.features.contracts.queries import StoredContract
from contractlog.registry.features.contracts.service import MAX_TOPICS, MAX_VERSIONS, is_topic
from contractlog.registry.storage.change_log import ChangeLogEntry
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.transfer import import_parsers
from contractlog.registry.transfer.import_parsers import InvalidField
from contractlog.registry.transfer.registry_contents import RegistryContents

__all__ = ["ContractPlan", "contract_body", "parse_stored_contract", "plan_contracts"]


def contract_body(contract: StoredContract) -> dict[str, Any]:
    """Return the members of a line."""
    return {
        "kind": "contract",
        "topic": contract.topic,
        "version": contract.version,
        "document": contract.document,
        "value_version": contract.value_version,
        "key_version": contract.key_version,
        "created": contract.created_at,
        "deleted": contract.deleted_at,
    }


def parse_stored_contract(body: Mapping[str, Any]) -> StoredContract:
    """Parse a contract, with the members of a line.

    Raises:
        KeyError: a member is missing.
        InvalidField: a member is not valid.
    """
    topic = import_parsers.read_text(body, "topic")
    if not is_topic(topic):
        raise InvalidField("`topic`: it is not a valid topic name")
    document = body["document"]
    if not isinstance(document, dict):
        raise InvalidField("`document`: it is not an object")
    try:
        contract = canonicalize_contract(document, topic)
    except InvalidContract as error:
        raise InvalidField(f"`document`: {error.message}") from None
    return StoredContract(
        topic=topic,
        version=import_parsers.read_number(body, "version", minimum=1, maximum=MAX_VERSIONS),
        text=contract.text,
        hash=contract.hash,
        value_version=_read_optional_version(body, "value_version"),
        key_version=_read_optional_version(body, "key_version"),
        created_at=import_parsers.read_time(body, "created") or 0,
        deleted_at=import_parsers.read_time(body, "deleted"),
    )


def _read_optional_version(body: Mapping[str, Any], name: str) -> int | None:
    if body.get(name) is None:
        return None
    return import_parsers.read_number(body, name, minimum=1, maximum=MAX_VERSION)


@dataclass(slots=True)
class ContractPlan:
    """Changes of the contracts of a store."""

    added: list[StoredContract] = field(default_factory=list)
    changed: list[StoredContract] = field(default_factory=list)  #: to delete or to restore
    conflicts: list[str] = field(default_factory=list)

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield the number of changes."""
        yield "contracts changed", len(self.added) + len(self.changed)

    def entries(self) -> Iterator[ChangeLogEntry]:
        """Yield the entries of the change log."""
        for contract in (*self.added, *self.changed):
            details = {"topic": contract.topic, "status": contract.life.status.value, "bypass": "IMPORT"}
            if contract.deleted_at is None:
                yield ChangeLogEntry("", "contract.updated", contract.name, after=contract.hash, details=details)
            else:
                yield ChangeLogEntry("", "contract.deleted", contract.name, before=contract.hash, details=details)


def plan_contracts(snapshot: Snapshot, source: RegistryContents) -> ContractPlan:
    """Compare the contracts of a store with those of a registry's contents.

    Versions that the source does not have any more stay, as deleted ones do there.
    """
    plan = ContractPlan()
    if not source.contracts:
        return plan
    stored = {contract.key: contract for contract in queries.stream_contracts(snapshot)}
    for key, contract in sorted(source.contracts.items()):
        existing = stored.get(key)
        if existing is None:
            plan.added.append(contract)
        elif existing.hash != contract.hash:
            plan.conflicts.append(f"version {contract.version} of the contract of {contract.topic} is another one here")
        elif (existing.deleted_at is None) != (contract.deleted_at is None):
            plan.changed.append(replace(contract, created_at=existing.created_at))
    topics = {topic for topic, _ in stored} | {topic for topic, _ in source.contracts}
    if len(topics) > MAX_TOPICS:
        plan.conflicts.append(f"there would be {len(topics):,} contracts; a registry has at most {MAX_TOPICS:,}")
    return plan
