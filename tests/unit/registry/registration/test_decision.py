"""Decisions on registrations: their reads, and the checks before any read."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.access.permissions import ALL_PERMISSIONS
from contractlog.registry.registration.decision import decide_registration
from contractlog.registry.registration.draft_checker import DraftChecker
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.registration.request import RegistrationRequest
from contractlog.registry.storage.store_values import PendingAppend

from support.snapshots import empty_store

ORDERS = Subject.parse("orders")


def test_first_and_next_versions_without_references_are_decided_on_what_is_prefetched() -> None:
    """A prefetched snapshot has no connection: any other query would make each registration read by itself."""
    checker = DraftChecker(SchemaParser(), Level.NONE)
    with empty_store() as store:
        for text in ('"int"', '"long"'):
            prefetched = store.prefetch(ORDERS).result(30)
            assert prefetched is not None
            request = RegistrationRequest(subject=ORDERS, draft=SchemaDraft(text))
            decision = decide_registration(checker, prefetched, request, ALL_PERMISSIONS)
            assert isinstance(decision, PendingAppend)
            store.append(decision).result(30)


@pytest.mark.parametrize("member", ["ruleSet", "rulesToMerge"])
def test_rules_are_validated_before_the_version_is_looked_up(http: httpx2.Client, member: str) -> None:
    invalid: dict[str, Any] = {"domainRules": [{"name": "a", "kind": "CONDITION", "mode": "WRITE", "type": "CEL"}] * 2}
    response = http.post("/subjects/unknown/versions/1/tags", json={member: invalid})
    assert response.json()["error_code"] == 42210
