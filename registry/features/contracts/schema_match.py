"""Comparison of a contract with the registered schemas of its topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from contractlog.compatibility.change_classification import ChangeKind, classify_change_between
from contractlog.compatibility.errors import ContractMismatch, InvalidSchema
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.contracts.odcs.canonical_contract import CanonicalContract, find_part
from contractlog.contracts.odcs.document import build_schema, list_schemas
from contractlog.registry.access.permissions import topic_permission_subject
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.storage.snapshot import Snapshot

__all__ = ["PARTS", "find_schema_versions"]

PARTS = ("value", "key")
_SAME = frozenset({ChangeKind.NONE, ChangeKind.ANNOTATION})


def find_schema_versions(
    parser: SchemaParser, snapshot: Snapshot, topic: str, contract: CanonicalContract
) -> dict[str, int | None]:
    """Return the newest version of each part's subject; None if the contract describes another schema.

    A contract without properties fits every schema. A draft or retired contract may describe another schema; its
    version is then None.

    Raises:
        ContractMismatch: a contract in force describes another schema, or other rules, than the newest version.
    """
    elements = {find_part(each): (index, each) for index, each in enumerate(list_schemas(contract.document))}
    versions: dict[str, int | None] = {}
    for part in PARTS:
        subject = topic_permission_subject(topic, part)
        latest = snapshot.version(subject, None)
        problem = None
        if part in elements and elements[part][1].get("properties"):
            draft = build_schema(contract.document, elements[part][0]).draft
            problem = _find_difference(parser, snapshot, subject, draft, latest)
        if problem is not None and contract.life.status.binding:
            raise ContractMismatch(detail=problem)
        versions[part] = None if problem is not None or latest is None else latest.version
    return versions


def _find_difference(
    parser: SchemaParser, snapshot: Snapshot, subject: Subject, draft: SchemaDraft, latest: RegisteredSchema | None
) -> str | None:
    """Return how a schema differs from the newest version of a subject; None if they mean the same."""
    if latest is None:
        return (
            f"{subject} has no version yet. Register the contract's schema first (contractlog contract import writes "
            "it to a file), or set the status to draft"
        )
    where = f"version {latest.version} of {subject}"
    if draft.type is not latest.type:
        return f"{where} is of type {latest.type}, the contract describes one of type {draft.type}"
    if draft.rule_set is not None and _rules(draft) != _rules(latest.draft):
        return f"its rules differ from those of {where}. Register them first, or leave confluentRuleSet out"
    try:
        plain = replace(draft, metadata=None, rule_set=None)
        parsed = parser.parse_draft(snapshot, subject, plain, strict=False).parsed
    except InvalidSchema as error:
        return error.message
    change = classify_change_between(parser.parse_stored(snapshot, latest), parsed)
    if change.kind in _SAME:
        return None
    first = f" First difference: {change.findings[0].detail}." if change.findings else ""
    return (
        f"its schema differs from {where} ({change.kind}).{first} Register the schema first, or write the contract "
        f"of the registered one: contractlog contract export {subject}"
    )


def _rules(draft: SchemaDraft) -> Mapping[str, Any]:
    return {} if draft.rule_set is None else draft.rule_set.body()
