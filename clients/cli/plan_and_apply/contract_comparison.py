"""Comparison of contracts in files with those of the registry."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from contractlog.clients.cli.contract.contract_files import read_contract, require_valid
from contractlog.clients.cli.plan_and_apply.contract_steps import PlannedContracts, PutContract
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import InvalidContract, NotFound, UsageError
from contractlog.compatibility.identifiers import topic_subject
from contractlog.contracts.odcs.canonical_contract import CanonicalContract, canonicalize_contract
from contractlog.contracts.odcs.contract_diff import list_changes, may_break_consumers
from contractlog.contracts.odcs.contract_life import find_life_problem, read_life

__all__ = ["compare_contracts", "read_topic_contract"]


def compare_contracts(
    registry: Registry, files: Mapping[str, Path], registering: Collection[str], unreadable: UnreadableFiles
) -> PlannedContracts:
    """Return the contracts that have to be stored; invalid ones are added to the unreadable files.

    Args:
        registry: the registry.
        files: contracts by topic.
        registering: subjects that get a new version.
        unreadable: receives the problems of files.
    """
    changes: list[PutContract] = []
    stored: set[tuple[str, str]] = set()
    for topic, path in files.items():
        with unreadable.collect(path):
            contract = read_topic_contract(topic, path)
            existing = _find_existing(registry, topic)
            problem = None if existing is None else _find_problem(existing, contract)
            if problem is not None:
                raise UsageError(f"{path}: {problem}")
            subjects = {topic_subject(topic, part) for part in ("value", "key")}
            if existing is not None and existing["hash"] == contract.hash and not _lags(existing, contract):
                stored.add((topic, contract.hash))
                if not subjects & set(registering):
                    continue
            number = 0 if existing is None else existing["version"]
            subject = topic_subject(topic, "value")
            breaking = existing is not None and _is_breaking(existing, contract)
            changes.append(PutContract(subject, topic, path, contract.document, contract.hash, number, breaking))
    return PlannedContracts(tuple(changes), frozenset(stored))


def read_topic_contract(topic: str, path: Path) -> CanonicalContract:
    """Return the contract of a topic in a file.

    Raises:
        UsageError: it is not valid, or is about another topic.
    """
    file = require_valid(read_contract(path))
    try:
        return canonicalize_contract(file.contract, topic)
    except InvalidContract as error:
        raise UsageError(f"{path}: {error.message}") from None


def _find_existing(registry: Registry, topic: str) -> Mapping[str, Any] | None:
    try:
        return registry.contract(topic)
    except NotFound:
        return None


def _find_problem(existing: Mapping[str, Any], contract: CanonicalContract) -> str | None:
    return find_life_problem(read_life(existing["document"]).status, contract.life.status)


def _is_breaking(existing: Mapping[str, Any], contract: CanonicalContract) -> bool:
    return any(map(may_break_consumers, list_changes(existing["document"], contract.document)))


def _lags(existing: Mapping[str, Any], contract: CanonicalContract) -> bool:
    """Return whether a contract in force describes an earlier version, although its schema is equal."""
    states = existing["schemas"]
    return contract.life.status.binding and any(each["version"] != each["latest"] for each in states)
