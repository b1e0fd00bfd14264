"""Every method of both clients against the real service, with equal results."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from contractlog.clients import Association, AssociationDraft, AsyncRegistry, Config, Dek, Kek, Registry, Resource
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.errors import (
    AssociationFrozen,
    AssociationNotFound,
    ContextNotEmpty,
    ContractlogError,
    LevelNotConfigured,
    ModeNotConfigured,
)
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings

from support.lineage_events import columns, dataset, job_event


def order(*names: str, **properties: str) -> SchemaDraft:
    fields = [{"name": name, "type": "long", "default": 0} for name in names]
    text = json.dumps({"type": "record", "name": "Order", "fields": fields})
    return SchemaDraft(text, metadata=Metadata(properties=properties) if properties else None)


FIRST, SECOND, THIRD = order("a"), order("a", "b", owner="x"), order("a", "b", "c")
LEANING = SchemaDraft(
    '{"type":"record","name":"Line","fields":[{"name":"o","type":"Order"}]}',
    references=(Reference("Order", "orders", 1),),
)
TOPIC = Resource("orders", "lkc-1", "id-1")
OWNED = Resource("owned", "lkc-1", "id-2")
RULE = Rule("checked", kind="CONDITION", mode="WRITE", type="CEL", expr="true")
TAG = [{"schemaEntity": {"entityPath": "Order.a", "entityType": "sr_field"}, "tags": ["PII"]}]
CONFIG = Config(
    level=Level.FULL,
    policy=Policy.LENIENT,
    group="major",
    normalize=True,
    default_metadata=Metadata(properties={"major": "1"}),
    override_rule_set=RuleSet(domain_rules=(RULE,)),
)
COLUMNS = columns({"id": [("orders", "id")]})
CONTRACT = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "t", "version": "1.0.0"}
EVENT = job_event(inputs=[dataset("orders")], outputs=[dataset("paid", columnLineage=COLUMNS), dataset("all")])
GUID = "guid of orders/1"  #: its place is taken by the real one

Step = tuple[str, tuple[Any, ...], dict[str, Any]]


def ask(method: str, *args: Any, **options: Any) -> Step:
    return method, args, options


JOURNEY: list[Step] = [
    ask("ping"),
    ask("live"),
    ask("started"),
    ask("ready"),
    ask("server_version"),
    ask("deployment"),
    ask("clusters"),
    ask("types"),
    ask("register", "orders", FIRST),
    ask("register", "orders", SECOND, normalize=True),
    ask("register", "lines", LEANING),
    ask("register", ":.eu:orders", FIRST),
    ask("lookup", "orders", SECOND),
    ask("schema_by_id", 1),
    ask("schema_by_guid", GUID),
    ask("ids_of_guid", GUID),
    ask("text_of_id", 3, format="resolved"),
    ask("text_of_version", "lines", "latest"),
    ask("subjects_of_id", 1, limit=5),
    ask("versions_of_id", 1, subject="orders"),
    ask("version", "lines", 1, format="resolved"),
    ask("version", "orders", "latest"),
    ask("latest", "orders"),
    ask("latest_with_metadata", "orders", {"owner": "x"}),
    ask("versions", "orders", offset=1),
    ask("subjects", prefix="o", limit=1),
    ask("each_subject", page=1),
    ask("schemas", prefix=":*:", latest_only=True),
    ask("each_schema", page=2),
    ask("referenced_by", "orders", 1),
    ask("referenced", LEANING),
    ask("check", "orders", THIRD, version=1),
    ask("derive", "orders", "latest", tags_to_add=TAG, metadata=Metadata(properties={"owner": "y"})),
    ask("config", "orders", inherited=False),
    ask("set_config", CONFIG, "orders"),
    ask("config", "orders"),
    ask("set_config", {"compatibilityGroup": None}, "orders"),
    ask("delete_config", "orders"),
    ask("set_level", "FULL", "orders"),
    ask("level", "orders"),
    ask("delete_level", "orders"),
    ask("set_policy", Policy.EXACT, "orders"),
    ask("policy", "orders"),
    ask("mode", "orders", inherited=False),
    ask("set_mode", "IMPORT", "imported"),
    ask("register", "imported", order("i"), schema_id=77, version=9),
    ask("mode", "imported", inherited=False),
    ask("delete_mode", "imported"),
    ask("bind", TOPIC, [AssociationDraft(subject="orders", lifecycle="WEAK")]),
    ask("bind", OWNED, [AssociationDraft(schema=order("own"))], dry_run=True),
    ask("bind", OWNED, [AssociationDraft(schema=order("own"))]),
    ask("ensure_bound", TOPIC, [AssociationDraft(subject="orders")]),
    ask("associations_by_resource_name", "orders"),
    ask("associations_by_resource_name", "owned", namespace="lkc-1", association_types=["value"]),
    ask("associations_by_resource_id", "id-2", lifecycle="STRONG"),
    ask("associations_of_subject", "orders"),
    ask("associations_of_many", [{"resourceId": "id-1"}, {}]),
    ask("change_associations", [TOPIC.body() | {"associations": [{"opType": "DELETE", "associationType": "value"}]}]),
    ask("unbind", "id-2"),
    ask("unbind", "id-2", cascade=True),
    ask("unbind", "id-2"),
    ask("delete_context", ".eu"),
    ask("contexts"),
    ask("delete_subject", ":.eu:orders"),
    ask("delete_subject", ":.eu:orders", permanent=True),
    ask("delete_context", ".eu"),
    ask("contexts", prefix=".e"),
    ask("delete_version", "orders", 2),
    ask("versions", "orders", deleted_as_negative=True),
    ask("versions", "orders", deleted_only=True),
    ask("lookup_many", [("orders", FIRST), ("nowhere", FIRST)]),
    ask("check_many", [("orders", THIRD)]),
    ask("difference", ("orders", 1), THIRD),
    ask("graph", "lines"),
    ask("permissions", "lines"),
    ask("effective_settings", "lines"),
    ask("effective_settings"),
    ask("search", field="a"),
    ask("each_hit", field="a"),
    ask("changes", limit=1),
    ask("each_change", page=7),
    ask("fetches", 1),
    ask("usage", ["lines", "nowhere"], days=7),
    ask("publish_lineage", EVENT),
    ask("publish_lineage", [EVENT, {}]),
    ask("lineage", "paid", direction="upstream", depth=2, field="id", evidence="declared"),
    ask("lineage", "paid", at="2013-07-01"),
    ask("lineage_edges", limit=5),
    ask("each_lineage_edge"),
    ask("create_kek", "pii", "local-kms", "key-1", kms_props={"region": "eu"}, doc="d"),
    ask("keks", subject_prefix="o", deleted=True),
    ask("kek", "pii", deleted=True),
    ask("update_kek", "pii", doc="personal data"),
    ask("test_kek", "pii"),
    ask("create_dek", "pii", "orders", "d3JhcHBlZA==", algorithm="AES256_SIV"),
    ask("create_dek", "pii", "orders", "d3JhcHBlZA=="),
    ask("create_dek", "pii", "orders", "d3JhcHBlZCBhZ2Fpbg==", rewrap=True),
    ask("dek", "pii", "orders", algorithm="AES256_SIV"),
    ask("dek", "pii", "orders", "latest"),
    ask("dek_versions", "pii", "orders"),
    ask("dek_subjects", "pii"),
    ask("delete_kek", "pii"),
    ask("delete_dek_version", "pii", "orders", 1),
    ask("undelete_dek_version", "pii", "orders", 1),
    ask("delete_dek", "pii", "orders"),
    ask("undelete_dek", "pii", "orders"),
    ask("delete_dek", "pii", "orders"),
    ask("delete_dek", "pii", "orders", permanent=True),
    ask("delete_kek", "pii"),
    ask("undelete_kek", "pii"),
    ask("put_contract", "t", CONTRACT, expected=0),
    ask("contracts", limit=5),
    ask("contract", "t"),
    ask("contract", "t", 1),
    ask("contract_versions", "t"),
    ask("contract_consumers", "t"),
    ask("delete_contract", "t"),
    ask("conformance", "t"),
    ask("conformance_history", "t"),
    ask("open_change_request", "orders", {"mode": {"mode": "READONLY"}}, "freeze"),
    ask("update_change_request", 1, "orders", {"mode": {"mode": None}}, "thaw", days=2),
    ask("change_requests", subject="orders", limit=1),
    ask("change_request", 1),
    ask("approve_change_request", 1, 2),  # nobody approves their own request
    ask("comment_on_change_request", 1, "why?"),
    ask("merge_change_request", 1),
    ask("close_change_request", 1),  # it is merged
    ask("waivers", subject="orders"),
    ask("metrics"),
]
ELSEWHERE = {
    "close",
    "forget",
    "send",
    "with_context",
    "publish_conformance",
}  # tested in other modules


async def travelled(make: Callable[..., Any]) -> list[Any]:
    """Go the whole way, and return what came of each step."""
    app = create_app(Settings(database_url="sqlite://"))
    registry, came = make(app=app), []
    guid = ""
    for method, args, options in JOURNEY:
        given = [guid if one is GUID else one for one in args]
        try:
            result = getattr(registry, method)(*given, **options)
            if hasattr(result, "__aiter__"):
                result = [one async for one in result]
            elif inspect.isawaitable(result):
                result = await result
            elif inspect.isgenerator(result):
                result = list(result)
        except ContractlogError as error:
            result = error
        if method == "register" and not guid:
            guid = str(result.guid)
        came.append(result)
    closed = registry.close()
    if inspect.isawaitable(closed):
        await closed
    app.state.close()
    return came


@pytest.fixture(scope="module")
def seen() -> list[Any]:
    return asyncio.run(travelled(Registry))


def timeless(value: Any) -> Any:
    """Leave out what differs between two runs: times, and what is made at random."""
    if isinstance(value, RegisteredSchema):
        return replace(value, timestamp=None)
    if isinstance(value, Association):
        return replace(value, guid=None, create_ts=None, update_ts=None)
    if isinstance(value, Kek | Dek):
        return replace(value, ts=None)
    if isinstance(value, dict):
        volatile = {
            "ts",
            "hash",
            "previous_hash",
            "head_hash",
            "guid",
            "createTs",
            "updateTs",
            "time",
            "at",
            "request_id",
            "first_published_at",
            "last_published_at",
            "created_at",
            "updated_at",
            "expires_at",
        }
        return {name: timeless(one) for name, one in value.items() if name not in volatile}
    if isinstance(value, list | tuple):
        return [timeless(one) for one in value]
    return repr(value) if isinstance(value, Exception) else value


def test_the_journey_uses_every_method() -> None:
    methods = {name for name, _ in inspect.getmembers(Registry, inspect.isfunction) if name[0] != "_"}
    assert methods - {method for method, *_ in JOURNEY} == ELSEWHERE


def test_both_clients_see_the_same(seen: list[Any]) -> None:
    for (method, *_), one, other in zip(JOURNEY, seen, asyncio.run(travelled(AsyncRegistry)), strict=True):
        if method != "metrics":
            assert timeless(one) == timeless(other), method


def came(seen: list[Any], method: str) -> list[Any]:
    return [result for (name, *_), result in zip(JOURNEY, seen, strict=True) if name == method]


def test_nothing_failed_but_what_should(seen: list[Any]) -> None:
    failed = [(method, type(result)) for (method, *_), result in zip(JOURNEY, seen, strict=True) if failure(result)]
    from contractlog.compatibility.errors import (
        ApprovalDenied,
        ChangeRequestEnded,
        ConformanceNotFound,
        InvalidKeyField,
        InvalidLineage,
        KeyReferenced,
    )

    assert failed == [
        ("config", LevelNotConfigured),
        ("mode", ModeNotConfigured),
        ("unbind", AssociationFrozen),
        ("unbind", AssociationNotFound),
        ("delete_context", ContextNotEmpty),
        ("publish_lineage", InvalidLineage),
        ("test_kek", InvalidKeyField),
        ("delete_kek", KeyReferenced),
        ("conformance", ConformanceNotFound),
        ("conformance_history", ConformanceNotFound),
        ("approve_change_request", ApprovalDenied),
        ("close_change_request", ChangeRequestEnded),
    ]


def failure(result: Any) -> bool:
    return isinstance(result, ContractlogError)


def test_the_service_says_what_it_is(seen: list[Any]) -> None:
    assert came(seen, "ping") == [True]
    assert [one[0]["status"] for one in (came(seen, name) for name in ("live", "started", "ready"))] == [
        "live",
        "started",
        "ready",
    ]
    assert came(seen, "clusters") == [{"schema-registry-cluster": "schema-registry"}]
    assert came(seen, "deployment") == [[]]
    assert "contractlog_" in came(seen, "metrics")[0]


def test_schemas_are_found_by_all_that_they_have(seen: list[Any]) -> None:
    first = came(seen, "register")[0]
    assert came(seen, "schema_by_guid")[0].text == first.text
    assert came(seen, "ids_of_guid") == [[(".", 1), (".eu", 1)]]
    assert json.loads(came(seen, "text_of_id")[0])["fields"][0]["type"]["name"] == "Order"
    assert json.loads(came(seen, "text_of_version")[0])["fields"][0]["type"] == "Order"
    assert came(seen, "subjects_of_id") == [["orders"]]
    assert came(seen, "versions_of_id") == [[("orders", 1)]]
    assert came(seen, "latest_with_metadata")[0].version == 2
    assert came(seen, "referenced_by") == [[3]]
    assert {str(one.subject) for one in came(seen, "schemas")[0]} == {"orders", "lines", ":.eu:orders"}


def test_a_derived_version_has_other_tags_and_metadata(seen: list[Any]) -> None:
    derived = came(seen, "derive")[0]
    assert derived.version == 3
    assert json.loads(derived.text)["fields"][0]["confluent:tags"] == ["PII"]
    assert derived.metadata.properties == {"owner": "y"}


def test_config_is_set_member_by_member(seen: list[Any]) -> None:
    _, read = came(seen, "config")
    assert read == CONFIG
    full, patched = came(seen, "set_config")
    assert full == CONFIG
    assert patched == came(seen, "delete_config")[0] == replace(CONFIG, group=None)
    assert came(seen, "policy") == [Policy.EXACT]


def test_imports_get_the_id_and_the_version_they_ask_for(seen: list[Any]) -> None:
    imported = came(seen, "register")[-1]
    assert (imported.schema_id, imported.version) == (77, 9)
    assert came(seen, "set_mode") == [Mode.IMPORT]
    assert came(seen, "delete_mode") == [Mode.IMPORT]


def test_associations_are_made_found_and_let_go(seen: list[Any]) -> None:
    by_name, owned = came(seen, "associations_by_resource_name")
    assert [(one.subject, one.lifecycle, one.frozen) for one in by_name] == [("orders", "WEAK", False)]
    assert [(one.subject, one.lifecycle, one.frozen) for one in owned] == [(":.lkc-1:owned-value", "STRONG", True)]
    assert came(seen, "associations_by_resource_id")[0] == owned
    assert came(seen, "associations_of_subject")[0] == by_name
    found, wrong = came(seen, "associations_of_many")[0]
    assert found["associations"][0]["subject"] == "orders"
    assert wrong.error_code == 42212
    assert came(seen, "unbind")[1] is None


def test_contexts_come_and_go(seen: list[Any]) -> None:
    assert came(seen, "contexts") == [[".", ".eu", ".lkc-1"], []]
    assert came(seen, "delete_context")[1] is None


def test_deleted_versions_are_told_apart(seen: list[Any]) -> None:
    assert came(seen, "versions") == [[2], [1, -2, 3], [2]]
