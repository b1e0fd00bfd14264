"""``openapi.yaml`` is what the app says about itself, and the app does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.openapi import document, text


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return document()


def test_openapi_yaml_is_current() -> None:
    written = Path(__file__).parents[2] / "openapi.yaml"
    assert written.read_text() == text(), "run: python -m contractlog.registry.openapi"


def test_every_reference_leads_somewhere_and_every_body_is_used(described: dict[str, Any]) -> None:
    used = set(re.findall(r"#/components/schemas/(\w+)", str(described)))
    assert used == set(described["components"]["schemas"])


def test_every_operation_is_told_in_a_sentence_and_has_a_name_of_its_own(described: dict[str, Any]) -> None:
    operations = [operation for path in described["paths"].values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(re.fullmatch(r"[A-Z].*\.", operation["description"], re.DOTALL) for operation in operations)


def test_every_code_that_is_told_exists(described: dict[str, Any]) -> None:
    codes = {int(code) for code in re.findall(r"(\d{3,5}): [A-Z]", str(described["paths"]))}
    assert codes <= set(RegistryError.catalogue())
    assert {40401, 40403, 40901, 42201, 42280, 40480, 413, 503} <= codes


def test_own_resources_keep_to_their_own_path_and_codes(described: dict[str, Any]) -> None:
    own = {path for path in described["paths"] if path.startswith("/contractlog/v1/")}
    assert own >= {
        "/contractlog/v1/conformance/{topic}",
        "/contractlog/v1/changes",
        "/contractlog/v1/search",
        "/contractlog/v1/diff",
    } | {
        "/contractlog/v1/lookup",
        "/contractlog/v1/check",
        "/contractlog/v1/fetches",
        "/contractlog/v1/graph/{subject}",
    }
    for path, operations in described["paths"].items():
        codes = set(re.findall(r"(4\d\d8\d): ", str(operations)))
        assert path in own or not codes
