"""Statements of contracts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, delete, func, insert, select, update

from contractlog.contracts.odcs.contract_life import ContractLife, ContractStatus, read_life
from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import order_by_bytes
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "ContractSummary",
    "StoredContract",
    "count_topics",
    "delete_versions",
    "find_contract",
    "find_highest_version",
    "import_contracts",
    "insert_contract",
    "list_audit_results",
    "list_contract_versions",
    "list_described_versions",
    "list_newest",
    "stream_contracts",
]

_C: Final = tables.contracts.c
_R: Final = tables.conformance.c


@dataclass(frozen=True, slots=True)
class ContractSummary:
    """A version of a contract without its document."""

    topic: str
    version: int
    contract_version: str  #: as the document says
    life: ContractLife
    created_at: int  #: milliseconds since 1970, UTC


@dataclass(frozen=True, slots=True)
class StoredContract:
    """A version of the contract of a topic."""

    topic: str
    version: int
    text: str  #: canonical JSON
    hash: str  #: SHA-256 of the text
    value_version: int | None  #: version of the subject of values with the schema of the contract; None: another schema
    key_version: int | None
    created_at: int  #: milliseconds since 1970, UTC
    deleted_at: int | None = None  #: None: live

    @property
    def key(self) -> tuple[str, int]:
        """Topic and number."""
        return self.topic, self.version

    @property
    def name(self) -> str:
        """The name in the change log."""
        return f"{self.topic}/{self.version}"

    @property
    def document(self) -> dict[str, Any]:
        """The contract."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def life(self) -> ContractLife:
        """Its status, with date and successor."""
        return read_life(self.document)

    @property
    def schema_versions(self) -> Mapping[str, int | None]:
        """The versions of the topic's subjects, by part."""
        return {"value": self.value_version, "key": self.key_version}


def find_contract(snapshot: Snapshot, topic: str, version: int | None = None) -> StoredContract | None:
    """Return a live version of a contract; without a number, the newest one."""
    statement = select(tables.contracts).where(_C.topic == topic, _C.deleted_at.is_(None))
    if version is not None:
        statement = statement.where(_C.version == version)
    row = snapshot.connection.execute(statement.order_by(_C.version.desc()).limit(1)).first()
    return None if row is None else _parse(row)


def find_highest_version(snapshot: Snapshot, topic: str) -> int:
    """Return the highest number that a version of a contract ever had; 0 if there was none."""
    return int(snapshot.connection.execute(select(func.max(_C.version)).where(_C.topic == topic)).scalar() or 0)


def list_contract_versions(snapshot: Snapshot, topic: str) -> list[int]:
    """List the live versions of a contract, lowest first."""
    statement = select(_C.version).where(_C.topic == topic, _C.deleted_at.is_(None)).order_by(_C.version)
    return list(snapshot.connection.execute(statement).scalars())


def list_audit_results(snapshot: Snapshot, topic: str, version: int) -> list[tuple[str, str, int]]:
    """List part, entry and time of the newest audit of each part, of those stored with a version."""
    of_version = (_R.topic == topic) & (_R.contract_version == version)
    newest = select(func.max(_R.sequence)).where(of_version).group_by(_R.part)
    statement = select(_R.part, _R.entry, _R.recorded_at).where(_R.sequence.in_(newest)).order_by(_R.part)
    return [(row.part, row.entry, row.recorded_at) for row in snapshot.connection.execute(statement)]


def list_described_versions(snapshot: Snapshot, topic: str) -> list[tuple[int, int | None, int | None]]:
    """List the live versions of a contract with the versions of values and keys that they describe."""
    statement = select(_C.version, _C.value_version, _C.key_version).where(_C.topic == topic, _C.deleted_at.is_(None))
    rows = snapshot.connection.execute(statement.order_by(_C.version))
    return [(row.version, row.value_version, row.key_version) for row in rows]


def list_newest(snapshot: Snapshot) -> Iterator[ContractSummary]:
    """Yield the newest version of each contract, by topic."""
    newest = select(_C.topic, func.max(_C.version).label("version")).where(_C.deleted_at.is_(None))
    of_topic = newest.group_by(_C.topic).subquery()
    columns = select(_C.topic, _C.version, _C.contract_version, _C.status, _C.retires_on, _C.successor, _C.created_at)
    on = (_C.topic == of_topic.c.topic) & (_C.version == of_topic.c.version)
    statement = columns.join(of_topic, on).order_by(order_by_bytes(_C.topic))
    for row in snapshot.connection.execute(statement):
        life = ContractLife(ContractStatus(row.status), row.retires_on, row.successor)
        yield ContractSummary(row.topic, row.version, row.contract_version, life, row.created_at)


def stream_contracts(snapshot: Snapshot) -> Iterator[StoredContract]:
    """Yield all versions of all contracts, deleted ones included."""
    statement = select(tables.contracts).order_by(order_by_bytes(_C.topic), _C.version)
    return map(_parse, snapshot.connection.execute(statement))


def count_topics(snapshot: Snapshot) -> int:
    """Return the number of topics that have or had a contract."""
    return int(snapshot.connection.execute(select(func.count(func.distinct(_C.topic)))).scalar() or 0)


def insert_contract(change: Transaction, contract: StoredContract) -> None:
    """Insert a version of a contract."""
    import_contracts(change, [contract])


def delete_versions(change: Transaction, topic: str, numbers: Sequence[int]) -> None:
    """Delete versions of a contract; their numbers are never assigned again."""
    where = (_C.topic == topic) & _C.version.in_(numbers)
    change.connection.execute(update(tables.contracts).where(where).values(deleted_at=change.now))


def import_contracts(change: Transaction, contracts: Sequence[StoredContract]) -> None:
    """Insert versions of contracts, or replace those with the same numbers."""
    for contract in contracts:
        where = (_C.topic == contract.topic) & (_C.version == contract.version)
        change.connection.execute(delete(tables.contracts).where(where))
    if contracts:
        change.connection.execute(insert(tables.contracts), [_row(contract) for contract in contracts])


def _row(contract: StoredContract) -> dict[str, Any]:
    life = contract.life
    return {
        "topic": contract.topic,
        "version": contract.version,
        "document": contract.text,
        "hash": contract.hash,
        "status": life.status.value,
        "contract_version": contract.document["version"],
        "retires_on": life.retires_on,
        "successor": life.successor,
        "value_version": contract.value_version,
        "key_version": contract.key_version,
        "created_at": contract.created_at,
        "deleted_at": contract.deleted_at,
    }


def _parse(row: Row[Any]) -> StoredContract:
    return StoredContract(
        topic=row.topic,
        version=row.version,
        text=row.document,
        hash=row.hash,
        value_version=row.value_version,
        key_version=row.key_version,
        created_at=row.created_at,
        deleted_at=row.deleted_at,
    )
