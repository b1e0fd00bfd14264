"""``openapi.yaml`` is generated from the app, and the app conforms to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.app import create_app
from contractlog.registry.http import openapi
from contractlog.registry.http.docs_page import render_page
from contractlog.registry.http.openapi_file import build_document, render_yaml
from contractlog.registry.settings import Settings


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return build_document()


def test_openapi_yaml_is_current() -> None:
    written = Path(__file__).parents[2] / "openapi.yaml"
    assert written.read_text() == render_yaml(), "run: python -m contractlog.registry.http.openapi_file"


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
        "/contractlog/v1/conformance/{topic}/history",
        "/contractlog/v1/contracts",
        "/contractlog/v1/contracts/{topic}",
        "/contractlog/v1/contracts/{topic}/versions/{version}",
        "/contractlog/v1/changes",
        "/contractlog/v1/search",
        "/contractlog/v1/diff",
    } | {
        "/contractlog/v1/lookup",
        "/contractlog/v1/check",
        "/contractlog/v1/fetches",
        "/contractlog/v1/usage",
        "/contractlog/v1/lineage",
        "/contractlog/v1/lineage/{topic}",
        "/contractlog/v1/graph/{subject}",
    }
    for path, operations in described["paths"].items():
        codes = set(re.findall(r"(4\d\d8\d): ", str(operations)))
        assert path in own or not codes


def test_every_parameter_is_described(described: dict[str, Any]) -> None:
    lacking = [
        f"{method.upper()} {path}: {parameter['name']}"
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
        for parameter in operation.get("parameters", ())
        if not re.fullmatch(r"\S.*[.)]", parameter.get("description", ""), re.DOTALL)
    ]
    assert lacking == []


def test_no_description_of_a_parameter_is_without_its_parameter(described: dict[str, Any]) -> None:
    parameters = {
        (path, parameter["name"])
        for path, operations in described["paths"].items()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
    }
    assert set(openapi._DESCRIPTIONS) <= {name for _, name in parameters}
    assert set(openapi._SPECIAL) <= parameters


def test_requests_are_listed_group_by_group_in_the_order_that_people_expect(described: dict[str, Any]) -> None:
    groups = [tag["name"] for tag in described["tags"]]
    assert groups[:7] == ["subjects", "schemas", "compatibility", "config", "mode", "contexts", "associations"]
    listed = [one["tags"] for path in described["paths"].values() for one in path.values()]
    assert all(len(tags) == 1 for tags in listed)
    assert list(dict.fromkeys(tags[0] for tags in listed)) == groups
    assert [groups.index(tags[0]) for tags in listed] == sorted(groups.index(tags[0]) for tags in listed)
    assert re.findall(r'<h2 id="([^"]+)">', render_page(described)) == [*groups, "bodies"]


def test_a_difference_has_the_members_that_are_described(described: dict[str, Any]) -> None:
    bodies = described["components"]["schemas"]
    with Registry(app=create_app(Settings(database_url="sqlite:///:memory:"))) as registry:
        registry.register("s", SchemaDraft('{"type": "record", "name": "R", "fields": []}'))
        later = SchemaDraft('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}')
        difference = registry.difference(("s", "latest"), later)
    [finding] = difference["findings"]
    assert difference.keys() == bodies["DifferenceBody"]["properties"].keys()
    assert finding.keys() == bodies["FindingBody"]["properties"].keys()
    assert finding["mends"][0].keys() == bodies["FixBody"]["properties"].keys()
