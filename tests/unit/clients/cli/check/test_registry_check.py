"""Compatibility checks by the registry, whatever it can check."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.check.registry_check import check_by_registry
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.errors import InvalidSchema, SubjectNotFound, VersionNotFound
from contractlog.compatibility.formats import FORMATS, parse_schema
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType

from support.operations import ID, LINE, NOTE, order


def test_a_registry_that_finds_references_decides(registry: Registry) -> None:
    registry.register("orders-value", order())
    registry.register("lines-value", LINE)
    incompatible = replace(LINE, text=LINE.text.replace("]}", f",{ID}]}}"))
    assert check_by_registry(registry, "lines-value", replace(LINE, text=LINE.text + " ")).compatible is True
    assert check_by_registry(registry, "lines-value", incompatible).compatible is False


def test_a_registry_that_does_not_find_them_leaves_the_verdict(apicurio_responses: ASGIApp) -> None:
    registry = Registry(app=apicurio_responses)
    registry.register("orders-value", order())
    registry.register("lines-value", LINE)
    verdict = check_by_registry(registry, "lines-value", LINE)
    assert verdict.compatible is None
    assert "could not check this schema (its check does not find what a schema refers to)" in verdict.note
    verdict = check_by_registry(registry, "orders-value", order(NOTE))
    assert (verdict.compatible, verdict.note) == (True, "")
    with pytest.raises(InvalidSchema):
        check_by_registry(registry, "orders-value", SchemaDraft('"nonsense"'))


@pytest.mark.parametrize("draft", [LINE, SchemaDraft("{}", SchemaType.JSON, (Reference("x.json", "x", 1),))])
def test_the_least_schema_that_refers_to_a_name_has_nothing_else(draft: SchemaDraft) -> None:
    write_reference = FORMATS[draft.type].write_reference
    assert write_reference is not None
    text = write_reference(draft.references[0].name)
    assert json.loads(text) in (["null", "Order"], {"$ref": "x.json"})
    name = draft.references[0].name
    known = {"Order": order().text, "x.json": "{}"}
    assert parse_schema(replace(draft, text=text), {name: known[name]}).references == draft.references


def test_a_new_subject_has_nothing_to_compare_with_but_a_version_must_exist(
    apicurio_responses: ASGIApp, registry: Registry
) -> None:
    assert check_by_registry(Registry(app=apicurio_responses), "new", order()).compatible is True
    registry.register("orders-value", order())
    with pytest.raises((SubjectNotFound, VersionNotFound)):
        check_by_registry(registry, "orders-value", order(), version=7)
