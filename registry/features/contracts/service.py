"""Contracts of topics: stored with the versions of the schemas that they describe, read, and deleted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

import msgspec

from contractlog.compatibility.errors import ContractMoved, ContractNotFound, InvalidContract
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT
from contractlog.contracts.odcs.canonical_contract import CanonicalContract, canonicalize_contract
from contractlog.contracts.odcs.contract_diff import list_changes, may_break_consumers
from contractlog.contracts.odcs.contract_life import find_life_problem
from contractlog.registry.access.current_caller import may_read
from contractlog.registry.access.permissions import topic_permission_subject
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.execution.work_limits import current_work
from contractlog.registry.features.contracts import queries
from contractlog.registry.features.contracts.queries import ContractSummary, StoredContract
from contractlog.registry.features.contracts.schema_match import PARTS, find_schema_versions
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.registration.service import retry_stale
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import Stale
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "MAX_TOPICS",
    "MAX_VERSIONS",
    "ContractResult",
    "ContractService",
    "ContractView",
    "SchemaState",
    "is_topic",
    "not_found_error",
]

MAX_TOPICS: Final = 20_000
MAX_VERSIONS: Final = 1_000  #: of a contract, deleted ones included
_MAX_RESULTS: Final = 1_000  #: of quality rules, listed for a part
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class SchemaState:
    """A subject of a topic beside its contract."""

    part: str
    subject: str
    version: int | None  #: the version that the contract describes; None if none
    latest: int | None  #: the newest version


@dataclass(frozen=True, slots=True)
class ContractResult:
    """The newest audit of a part of the topic while a version of the contract was the newest one."""

    part: str
    verdict: str
    recorded_at: int  #: milliseconds since 1970, UTC
    quality: tuple[Mapping[str, Any], ...]  #: results of quality rules and service levels, as in ``report.json``


@dataclass(frozen=True, slots=True)
class ContractView:
    """A version of a contract, and the subjects of its topic that the caller may read."""

    contract: StoredContract
    schemas: tuple[SchemaState, ...]
    results: tuple[ContractResult, ...] = ()


class _AuditEntry(msgspec.Struct):
    verdict: str
    quality: list[Any] = []


@dataclass(frozen=True, slots=True)
class _Checked:
    """A contract, and the state that it was checked against."""

    contract: CanonicalContract
    versions: Mapping[str, int | None]
    latest: Mapping[str, int | None]


def is_topic(name: str) -> bool:
    """Return True if Kafka accepts the name of a topic."""
    return _TOPIC.fullmatch(name) is not None and name not in {".", ".."}


class ContractService(ReadService):
    """Stores the contracts of topics."""

    def __init__(self, store: Store, threads: ThreadPools, parser: SchemaParser) -> None:
        super().__init__(store, threads)
        self._parser = parser

    async def list_contracts(self, after: str, limit: int) -> tuple[list[ContractSummary], str | None]:
        """List the newest versions of the contracts that the caller may read, and ``after`` of the next page."""

        def query(snapshot: Snapshot) -> list[ContractSummary]:
            contracts = (each for each in queries.list_newest(snapshot) if each.topic > after)
            readable = (each for each in contracts if may_read(topic_permission_subject(each.topic)))
            return list(islice(readable, limit + 1))

        contracts = await self._query(query)
        return contracts[:limit], contracts[limit - 1].topic if len(contracts) > limit else None

    async def get(self, topic: str, version: int | None = None) -> ContractView:
        """Return a version of a contract; without a number, the newest one.

        Raises:
            ContractNotFound: there is none.
        """

        def query(snapshot: Snapshot) -> ContractView:
            contract = queries.find_contract(snapshot, topic, version) if is_topic(topic) else None
            if contract is None:
                raise not_found_error(topic, version)
            return replace(_view(snapshot, contract), results=tuple(_read_results(snapshot, contract)))

        return await self._query(query)

    async def list_versions(self, topic: str) -> list[int]:
        """List the versions of a contract, lowest first.

        Raises:
            ContractNotFound: there is none.
        """
        numbers = await self._query(queries.list_contract_versions, topic) if is_topic(topic) else []
        if not numbers:
            raise not_found_error(topic)
        return numbers

    async def put(
        self, topic: str, document: Mapping[str, Any], *, text: str, expected: int | None = None
    ) -> ContractView:
        """Store a contract as the next version; one that equals the newest version changes nothing.

        Args:
            topic: the topic.
            document: the contract.
            text: the request's body.
            expected: the newest version, 0 for none; any if it is None.

        Raises:
            InvalidContract: it is not valid, its status may not follow the present one, or there are too many.
            ContractMismatch: it describes another schema than the newest version of the topic's subject.
            ContractMoved: the newest version is not the expected one.
        """
        if not is_topic(topic):
            raise InvalidContract(detail=f"`{topic[:249]}` is not a valid topic name")

        async def attempt() -> ContractView | Stale:
            checked = await self._query_schemas(text, self._check, topic, document)

            def work(change: Transaction) -> ContractView | Stale:
                if _read_latest(change, topic) != checked.latest:
                    return Stale()
                return _view(change, _store(change, topic, checked, expected))

            return await self._store.change(work, contexts=[DEFAULT_CONTEXT])

        return await retry_stale(attempt)

    async def delete(self, topic: str) -> list[int]:
        """Delete all versions of a contract, and return their numbers, which are never assigned again.

        Raises:
            ContractNotFound: there is none.
        """

        def work(change: Transaction) -> list[int]:
            newest = queries.find_contract(change, topic)
            if newest is None:
                raise not_found_error(topic)
            numbers = queries.list_contract_versions(change, topic)
            queries.delete_versions(change, topic, numbers)
            details = {"topic": topic, "versions": len(numbers), "breaking": True}
            change.record_change("contract.deleted", newest.name, before=newest.hash, details=details)
            return numbers

        return await self._store.change(work, contexts=[DEFAULT_CONTEXT])

    def _check(self, snapshot: Snapshot, topic: str, document: Mapping[str, Any]) -> _Checked:
        contract = canonicalize_contract(document, topic)
        current_work.get().parse(len(contract.text))
        versions = find_schema_versions(self._parser, snapshot, topic, contract)
        return _Checked(contract, versions, _read_latest(snapshot, topic))


def _store(change: Transaction, topic: str, checked: _Checked, expected: int | None) -> StoredContract:
    """Append a contract as the next version, unless the newest one equals it."""
    newest = queries.find_contract(change, topic)
    number = 0 if newest is None else newest.version
    if expected is not None and expected != number:
        raise ContractMoved(topic=topic, version=number, expected=expected)
    contract = checked.contract
    if newest is not None and (newest.hash, newest.schema_versions) == (contract.hash, checked.versions):
        return newest
    if newest is not None:
        problem = find_life_problem(newest.life.status, contract.life.status)
        if problem is not None:
            raise InvalidContract(detail=problem)
    highest = queries.find_highest_version(change, topic)
    if highest >= MAX_VERSIONS:
        raise InvalidContract(detail=f"it has {MAX_VERSIONS:,} versions already, which is the limit")
    if not highest and queries.count_topics(change) >= MAX_TOPICS:
        raise InvalidContract(detail=f"there are contracts of {MAX_TOPICS:,} topics already, which is the limit")
    stored = StoredContract(
        topic=topic,
        version=highest + 1,
        text=contract.text,
        hash=contract.hash,
        value_version=checked.versions["value"],
        key_version=checked.versions["key"],
        created_at=change.now,
    )
    queries.insert_contract(change, stored)
    _record(change, newest, stored, contract)
    return stored


def _record(
    change: Transaction, before: StoredContract | None, after: StoredContract, contract: CanonicalContract
) -> None:
    changes = [] if before is None else list(list_changes(before.document, contract.document))
    versions = {f"{part}_version": after.schema_versions[part] for part in PARTS}
    details = {
        "topic": after.topic,
        "status": contract.life.status.value,
        "breaking": any(map(may_break_consumers, changes)),
        **{name: number for name, number in versions.items() if number is not None},
    }
    action = "contract.created" if before is None else "contract.updated"
    former = None if before is None else before.hash
    change.record_change(action, after.name, before=former, after=after.hash, details=details)


def _read_latest(snapshot: Snapshot, topic: str) -> dict[str, int | None]:
    """Return the newest version of the subject of each part."""
    newest = {part: snapshot.version(topic_permission_subject(topic, part), None) for part in PARTS}
    return {part: None if version is None else version.version for part, version in newest.items()}


def _view(snapshot: Snapshot, contract: StoredContract) -> ContractView:
    latest = _read_latest(snapshot, contract.topic)
    states = []
    for part, version in contract.schema_versions.items():
        subject = topic_permission_subject(contract.topic, part)
        if may_read(subject) and (version is not None or latest[part] is not None):
            states.append(SchemaState(part, str(subject), version, latest[part]))
    return ContractView(contract, tuple(states))


def _read_results(snapshot: Snapshot, contract: StoredContract) -> Iterator[ContractResult]:
    """Yield the results of the parts.

    Details of audits are stored unverified, so malformed ones are left out.
    """
    for part, entry, recorded_at in queries.list_audit_results(snapshot, contract.topic, contract.version):
        with suppress(msgspec.ValidationError):
            audit = msgspec.json.decode(entry, type=_AuditEntry)
            quality = tuple(each for each in audit.quality if isinstance(each, dict))
            yield ContractResult(part, audit.verdict, recorded_at, quality[:_MAX_RESULTS])


def not_found_error(topic: str, version: int | None = None) -> ContractNotFound:
    """Return the error for a topic without a contract, or without a version of it."""
    wanted = "contract" if version is None else f"version {version} of its contract"
    return ContractNotFound(topic=topic, contract=wanted)
