"""Config and mode of each scope: updates, explicit values and inheritance."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import httpx2
import pytest

from contractlog.registry.features.config_and_mode import bodies
from contractlog.registry.settings import Settings
from contractlog.registry.storage.store_values import ScopeSettings

from support.registry import in_process

FULL = {
    "alias": "other",
    "aliasForDeks": "third",
    "normalize": True,
    "validateFields": True,
    "validateNewSchemas": False,
    "validateRules": False,
    "compatibility": "FULL",
    "compatibilityPolicy": "LENIENT",
    "compatibilityGroup": "major",
    "defaultMetadata": {"properties": {"a": "1"}},
    "overrideMetadata": {"tags": {"**.x": ["PII"]}},
    "defaultRuleSet": {
        "domainRules": [{"name": "n", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "disabled": False}]
    },
    "overrideRuleSet": {"enableAt": "CLIENT"},
    "contractlogPolicy": "EXACT",
    "strictJsonSchemas": True,
}


def test_each_setting_but_the_mode_is_a_member_of_both_bodies() -> None:
    names = {member.name for member in fields(ScopeSettings)} - {"mode"}
    members = {bodies._MEMBERS.get(name, name) for name in names} | {"compatibility"}
    assert set(bodies._PARSERS) == names
    assert set(bodies.ConfigRequest.__struct_fields__) == set(bodies.ConfigBody.__struct_fields__) == members


def refused(answer: httpx2.Response) -> tuple[int, str]:
    body = answer.json()
    return body["error_code"], body["message"]


def test_every_member_is_kept_and_echoed_in_the_reference_s_order(http: httpx2.Client) -> None:
    echoed = http.put("/config/s", json=FULL).json()
    assert echoed == FULL
    assert list(echoed) == list(FULL)
    shown = http.get("/config/s").json()
    assert shown == {name: value for name, value in FULL.items() if name != "compatibility"} | {
        "compatibilityLevel": "FULL"
    }
    assert list(shown)[6] == "compatibilityLevel"


def test_a_compatibility_group_is_the_name_of_a_property(http: httpx2.Client) -> None:
    """The change log has it for every registration."""
    assert http.put("/config/s", json={"compatibilityGroup": "g" * 255}).status_code == 200
    assert refused(http.put("/config/s", json={"compatibilityGroup": "g" * 256})) == (
        422, "compatibilityGroup has more than 255 characters")  # fmt: skip


def test_a_put_is_a_patch(http: httpx2.Client) -> None:
    http.put("/config/s", json=FULL)
    assert http.put("/config/s", json={"normalize": False}).json() == FULL | {"normalize": False}
    cleared = http.put("/config/s", json=dict.fromkeys(FULL)).json()
    assert cleared == {}
    assert refused(http.get("/config/s")) == (
        40408,
        "Subject 's' does not have subject-level compatibility configured",
    )


def test_inherited_and_explicit_members(http: httpx2.Client) -> None:
    http.put("/config", json=FULL | {"alias": None, "compatibility": "FORWARD"})
    shown = http.get("/config/s?defaultToGlobal=true").json()
    assert shown["compatibilityLevel"] == "FORWARD"
    assert shown["defaultMetadata"] == FULL["defaultMetadata"]
    assert "aliasForDeks" not in shown
    http.put("/config/s", json={"compatibility": "NONE"})
    shown = http.get("/config/s?defaultToGlobal=true").json()
    assert (shown["compatibilityLevel"], shown["normalize"], shown["compatibilityGroup"]) == ("NONE", True, "major")
    assert "defaultMetadata" not in shown
    assert http.get("/config/s").json() == {"compatibilityLevel": "NONE"}
    # The default context's config is not that of other contexts; the global one is for all.
    assert http.get("/config/:.eu:s?defaultToGlobal=true").json() == {"compatibilityLevel": "BACKWARD"}
    http.put("/config/:.__GLOBAL:", json={"compatibility": "FULL"})
    assert http.get("/config/:.eu:s?defaultToGlobal=true").json() == {"compatibilityLevel": "FULL"}


def test_a_subject_inherits_missing_settings_from_its_own_context(http: httpx2.Client) -> None:
    http.put("/config", json={"normalize": False, "compatibilityGroup": "default"})
    http.put("/config/:.eu:", json={"normalize": True, "compatibility": "FULL"})
    http.put("/config/:.eu:s", json={"validateFields": True})
    shown = http.get("/config/:.eu:s?defaultToGlobal=true").json()
    assert shown == {"normalize": True, "validateFields": True, "compatibilityLevel": "FULL"}


def test_settings_in_force_have_the_scope_that_each_is_set_for(http: httpx2.Client) -> None:
    default = {"config": {"compatibilityLevel": "BACKWARD"}, "mode": "READWRITE"}
    sources: dict[str, str | None] = {"compatibilityLevel": None, "mode": None}
    for scope in ("s", ":.eu:s", ":.eu:", ":.:", ":.__GLOBAL:"):
        assert http.get(f"/contractlog/v1/settings/{scope}").json() == {"subject": scope, **default, "sources": sources}
    http.put("/config", json={"compatibility": "BACKWARD", "alias": "not-inherited"})
    http.put("/config/:.__GLOBAL:", json={"normalize": True, "compatibility": "FULL"})
    http.put("/config/:.eu:", json={"contractlogPolicy": "EXACT", "defaultMetadata": FULL["defaultMetadata"]})
    http.put("/mode/:.eu:s", json={"mode": "READONLY"})
    assert http.get("/contractlog/v1/settings/s").json()["sources"] == {
        "compatibilityLevel": ":.:",
        "normalize": ":.__GLOBAL:",
        "mode": None,
    }
    assert http.get("/contractlog/v1/settings/:.:").json()["sources"]["alias"] == ":.:"
    shown = http.get("/contractlog/v1/settings/:.eu:s").json()
    assert shown["sources"] == {
        "compatibilityLevel": ":.__GLOBAL:",
        "normalize": ":.__GLOBAL:",
        "contractlogPolicy": ":.eu:",
        "defaultMetadata": ":.eu:",
        "mode": ":.eu:s",
    }
    assert shown["config"] == http.get("/config/:.eu:s?defaultToGlobal=true").json()
    assert shown["mode"] == http.get("/mode/:.eu:s?defaultToGlobal=true").json()["mode"]
    assert shown["sources"].keys() == shown["config"].keys() | {"mode"}
    assert refused(http.get("/contractlog/v1/settings/s?deleted=true"))[0] == 42281


def test_deleting_config_answers_with_what_was_in_force(http: httpx2.Client) -> None:
    assert http.delete("/config").json() == {"compatibilityLevel": "BACKWARD"}
    http.put("/config", json={"compatibility": "NONE"})
    http.put("/config/s", json={"compatibility": "FULL"})
    http.put("/config/:.eu:", json={"compatibility": "FORWARD"})
    assert http.delete("/config").json() == {"compatibilityLevel": "NONE"}
    assert http.delete("/config/s").json() == {"compatibilityLevel": "FULL"}
    assert http.delete("/config/:.eu:").json() == {"compatibilityLevel": "FORWARD"}
    assert refused(http.delete("/config/s")) == (40401, "Subject 's' not found.")
    assert refused(http.delete("/config/:.eu:")) == (40401, "Subject ':.eu:' not found.")
    assert refused(http.get("/config/:.eu:"))[0] == 40408
    assert http.get("/config").json() == {"compatibilityLevel": "BACKWARD"}


def test_modes_are_inherited_and_deleted_recursively(http: httpx2.Client) -> None:
    assert http.get("/mode").json() == {"mode": "READWRITE"}
    assert refused(http.get("/mode/s")) == (40409, "Subject 's' does not have subject-level mode configured")
    assert http.put("/mode/:.__GLOBAL:", json={"mode": "readonly"}).json() == {"mode": "READONLY"}
    assert http.get("/mode/:.eu:s?defaultToGlobal=true").json() == {"mode": "READONLY"}
    http.put("/mode/:.eu:", json={"mode": "READWRITE"})
    http.put("/mode/:.eu:s", json={"mode": "READONLY_OVERRIDE"})
    assert http.get("/mode/:.eu:s").json() == {"mode": "READONLY_OVERRIDE"}
    assert http.get("/mode/:.eu:t?defaultToGlobal=true").json() == {"mode": "READWRITE"}
    assert http.delete("/mode/:.eu:?recursive=true").json() == {"mode": "READWRITE"}
    assert refused(http.get("/mode/:.eu:s"))[0] == 40409
    assert refused(http.delete("/mode/:.eu:")) == (40401, "Subject ':.eu:' not found.")
    assert http.delete("/mode/:.__GLOBAL:").json() == {"mode": "READONLY"}
    assert refused(http.put("/mode/s", json={"mode": "OPEN"})) == (
        42204,
        "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.",
    )
    http.put("/mode/s", json={"mode": "READONLY"})
    assert http.put("/mode/s", json={"mode": None}).json() == {}
    assert refused(http.get("/mode/s"))[0] == 40409


def test_config_does_not_change_where_nothing_may_be_written(http: httpx2.Client) -> None:
    http.put("/mode/s", json={"mode": "READONLY"})
    told = (42205, "Subject s in context . is in read-only mode")
    assert refused(http.put("/config/s", json={"compatibility": "NONE"})) == told
    assert refused(http.put("/config/t", json={"compatibility": "SOME"}))[0] == 42203
    http.put("/mode/s", json={"mode": "IMPORT"})
    assert http.put("/config/s", json={"compatibility": "NONE"}).json() == {"compatibility": "NONE"}


@pytest.mark.parametrize("policy", ["LOGICAL", "SOME", ""])
def test_an_unknown_policy_is_dropped(http: httpx2.Client, policy: str) -> None:
    http.put("/config/s", json={"compatibilityPolicy": "LENIENT"})
    assert http.put("/config/s", json={"compatibilityPolicy": policy}).json() == {"compatibilityPolicy": "LENIENT"}


def test_modes_can_be_frozen() -> None:
    with in_process(Settings(database_url="sqlite://", mode_mutability=False)) as http:
        calls: list[Any] = [
            http.put("/mode", json={"mode": "READONLY"}),
            http.put("/mode/s", json={"mode": "IMPORT"}),
            http.delete("/mode/s"),
            http.delete("/mode"),
        ]
        assert [refused(answer) for answer in calls] == [(42205, "Mode changes are not allowed")] * 4
