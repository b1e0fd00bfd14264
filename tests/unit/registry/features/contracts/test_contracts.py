"""Contracts of topics over HTTP, on every database: versions, schemas, life and protection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.odcs.document import build_contract
from contractlog.contracts.odcs.versions import fit_version
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.settings import Settings

from support.lineage_events import dataset, job_event
from support.registry import in_process
from support.reports import part

PATH = "/contractlog/v1/contracts"
ORDER, ORDER_2 = (
    json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": fields})
    for fields in (
        [{"name": "id", "type": "long"}],
        [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
    )
)
KEY = '{"type":"string"}'


@pytest.fixture
def node(database_url: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=database_url)) as client:
        register(client)
        yield client


def register(client: httpx2.Client, schema: str = ORDER, subject: str = "orders-value") -> int:
    answer = client.post(f"/subjects/{subject}/versions", json={"schema": schema})
    assert answer.status_code == 200, answer.text
    return int(answer.json()["version"])


def contract(schema: str = ORDER, /, **members: Any) -> dict[str, Any]:
    document, _ = build_contract("orders", SchemaDraft(schema), version=1)
    return document | members


def send(client: httpx2.Client, method: str, path: str = "/orders", body: Any = None, **options: Any) -> Any:
    answer = client.request(method, PATH + path, json=body, **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refusal(client: httpx2.Client, method: str, path: str = "/orders", body: Any = None) -> tuple[int, str]:
    answer = client.request(method, PATH + path, json=body)
    assert answer.status_code == int(str(answer.json()["error_code"])[:3])
    return answer.json()["error_code"], answer.json()["message"]


def life(status: str, **custom: Any) -> dict[str, Any]:
    entries = [{"property": name, "value": value} for name, value in custom.items()]
    return contract(status=status) | ({"customProperties": entries} if entries else {})


def test_a_contract_is_stored_with_the_version_that_it_describes(node: httpx2.Client) -> None:
    stored = send(node, "PUT", body=contract())
    assert stored["document"] == contract()
    assert (stored["topic"], stored["version"], stored["status"]) == ("orders", 1, "active")
    assert stored["schemas"] == [{"part": "value", "subject": "orders-value", "version": 1, "latest": 1}]
    assert send(node, "GET") == send(node, "GET", "/orders/versions/1") == stored
    assert send(node, "GET", "/orders/versions/latest") == stored
    register(node, ORDER_2)
    assert send(node, "GET")["schemas"][0] == {"part": "value", "subject": "orders-value", "version": 1, "latest": 2}


def test_an_equal_contract_makes_no_version_whatever_its_notation(node: httpx2.Client) -> None:
    first = send(node, "PUT", body=contract())
    older, _ = fit_version(contract(), "v3.0.2")
    assert send(node, "PUT", body=dict(reversed(contract().items()))) == first
    assert send(node, "PUT", body=older) == first
    assert send(node, "PUT", body=contract(domain="shop"))["version"] == 2
    assert send(node, "GET", "/orders/versions") == [1, 2]
    assert send(node, "GET", "/orders/versions/1") == first


def test_every_write_is_in_the_change_log_with_its_hash(node: httpx2.Client) -> None:
    first = send(node, "PUT", body=contract())
    second = send(node, "PUT", body=contract(description={"purpose": "billing"}))
    third = send(node, "PUT", body=contract(domain="shop"))
    send(node, "PUT", body=contract(domain="shop"))
    send(node, "DELETE")
    changes = node.get("/contractlog/v1/changes").json()["changes"]
    entries = [change for change in changes if change["action"].startswith("contract.")]
    assert [(each["action"], each["target"], each.get("before"), each.get("after")) for each in entries] == [
        ("contract.created", "orders/1", None, first["hash"]),
        ("contract.updated", "orders/2", first["hash"], second["hash"]),
        ("contract.updated", "orders/3", second["hash"], third["hash"]),
        ("contract.deleted", "orders/3", third["hash"], None),
    ]
    assert [each["details"]["breaking"] for each in entries] == [False, False, True, True]
    assert entries[0]["details"]["value_version"] == 1


def test_a_deleted_contract_is_gone_and_its_numbers_are_not_assigned_again(node: httpx2.Client) -> None:
    send(node, "PUT", body=contract())
    send(node, "PUT", body=contract(domain="shop"))
    assert send(node, "DELETE") == [1, 2]
    assert refusal(node, "GET") == refusal(node, "DELETE") == (40482, "Topic 'orders' has no contract.")
    assert refusal(node, "GET", "/orders/versions")[0] == 40482
    assert refusal(node, "GET", "/orders/versions/1") == (40482, "Topic 'orders' has no version 1 of its contract.")
    assert send(node, "GET", "") == {"contracts": []}
    assert send(node, "PUT", body=contract())["version"] == 3


def test_a_write_can_require_the_newest_version(node: httpx2.Client) -> None:
    assert refusal(node, "PUT", "/orders?expected=1", contract())[0] == 40985
    send(node, "PUT", "/orders?expected=0", contract())
    code, message = refusal(node, "PUT", "/orders?expected=0", contract(domain="shop"))
    assert (code, "is 1, not 0" in message) == (40985, True)
    assert send(node, "PUT", "/orders?expected=1", contract(domain="shop"))["version"] == 2


def test_a_contract_in_force_must_describe_the_newest_schema_and_registers_none(node: httpx2.Client) -> None:
    code, message = refusal(node, "PUT", body=contract(ORDER_2))
    assert code == 40986
    assert "its schema differs from version 1 of orders-value" in message
    assert send(node, "PUT", body=contract(ORDER_2, status="draft"))["schemas"][0]["version"] is None
    assert node.get("/subjects/orders-value/versions").json() == [1]
    register(node, ORDER_2)
    assert send(node, "PUT", body=contract(ORDER_2))["schemas"][0]["version"] == 2
    assert refusal(node, "PUT", body=contract(ORDER))[0] == 40986


def test_a_contract_of_a_topic_without_schema_must_be_a_draft(node: httpx2.Client) -> None:
    document, _ = build_contract("new", SchemaDraft(ORDER))
    assert send(node, "PUT", "/new", document)["schemas"] == []
    code, message = refusal(node, "PUT", "/new", document | {"status": "active"})
    assert (code, "new-value has no version" in message) == (40986, True)


def test_documentation_is_no_other_schema_and_no_properties_describe_any(node: httpx2.Client) -> None:
    document = contract()
    document["schema"][0]["properties"][0]["description"] = "the number of the order"
    assert send(node, "PUT", body=document)["schemas"][0]["version"] == 1
    bare = {"name": "orders", "physicalName": "orders", "physicalType": "topic"}
    assert send(node, "PUT", body=contract(schema=[bare]))["schemas"][0]["version"] == 1


def test_rules_of_a_contract_must_be_those_of_the_version(node: httpx2.Client) -> None:
    document = contract()
    rule = {"name": "positive", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.id > 0"}
    entry = {"property": "confluentRuleSet", "value": {"domainRules": [rule]}}
    document["schema"][0]["customProperties"].append(entry)
    code, message = refusal(node, "PUT", body=document)
    assert (code, "its rules differ" in message) == (40986, True)


def test_keys_are_described_by_their_own_schema_object(node: httpx2.Client) -> None:
    register(node, KEY, "orders-key")
    key, _ = build_contract("orders", SchemaDraft(KEY), part="key")
    document = contract()
    document["schema"] += [each | {"name": "key"} for each in key["schema"]]
    assert [(each["part"], each["version"]) for each in send(node, "PUT", body=document)["schemas"]] == [
        ("value", 1),
        ("key", 1),
    ]
    document["schema"].append(document["schema"][0] | {"name": "again"})
    assert "two schema objects describe the value" in refusal(node, "PUT", body=document)[1]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"id": None}, "id must be a text"),
        ({"status": "unheard"}, "status must be one of proposed, draft, active, deprecated, retired"),
        ({"unknown": 1}, "unknown is no member of ODCS 3.2"),
        ({"status": "deprecated"}, "a deprecated contract needs the custom property retirementDate"),
        ({"schema": [{"name": "a", "physicalName": "payments"}]}, "schema[0] is about the topic payments"),
        ({"domain": "d" * 600_000}, "larger than 512 KiB"),
        ({"apiVersion": "v2.2.2"}, "contracts of 2.x have another structure"),
    ],
)
def test_an_invalid_contract_is_rejected(http: httpx2.Client, members: dict[str, Any], message: str) -> None:
    register(http)
    code, text = refusal(http, "PUT", body=contract() | members)
    assert code == 42286
    assert message in text


def test_a_document_that_is_nested_too_deeply_is_rejected(http: httpx2.Client) -> None:
    value: Any = 1
    for _ in range(100):
        value = [value]
    body = contract(customProperties=[{"property": "deep", "value": value}])
    assert refusal(http, "PUT", body=body) == (
        42286,
        "The contract is not valid: it is nested deeper than 64 levels",
    )
    assert refusal(http, "PUT", "/a%2Fb", contract())[0] == 42286
    assert refusal(http, "PUT", "/%2E%2E", contract(id=".."))[0] == 42286


def test_a_member_of_a_contract_occurs_once(http: httpx2.Client) -> None:
    text = json.dumps(contract()).replace('"status":', '"status": "retired", "status":')
    assert text.count('"status"') == 2
    answer = http.put(f"{PATH}/orders", content=text, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42286)


def test_the_status_moves_forward_only(http: httpx2.Client) -> None:
    register(http)
    for document in (
        life("proposed"),
        life("draft"),
        life("active"),
        life("deprecated", retirementDate="2027-03-31", successor="orders-2"),
        life("active"),
        life("retired"),
    ):
        send(http, "PUT", body=document)
    assert refusal(http, "PUT", body=life("draft")) == (
        42286,
        "The contract is not valid: a retired contract cannot become draft: no other status can follow",
    )
    deprecated = send(http, "GET", "/orders/versions/4")
    assert (deprecated["retires_on"], deprecated["successor"]) == ("2027-03-31", "orders-2")


def test_the_date_of_a_deprecated_contract_is_a_date(http: httpx2.Client) -> None:
    register(http)
    code, message = refusal(http, "PUT", body=life("deprecated", retirementDate="soon"))
    assert (code, "retirementDate must be a date such as 2027-03-31" in message) == (42286, True)


def test_contracts_are_listed_by_topic_as_far_as_the_caller_may_read_them(tmp_path: Path) -> None:
    users = {"shop": {"read": ["orders-*"], "write": ["orders-*"]}, "all": {"read": [], "write": ["*"]}}
    file = tmp_path / "users.toml"
    file.write_text("".join(format_entry(name, HashedPassword.of("pw"), **each) for name, each in users.items()))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as client:
        for topic in ("payments", "orders"):
            document, _ = build_contract(topic, SchemaDraft(ORDER))
            send(client, "PUT", f"/{topic}", document, auth=("all", "pw"))
        listed = send(client, "GET", "", auth=("all", "pw"))["contracts"]
        assert [(each["topic"], each["status"]) for each in listed] == [("orders", "draft"), ("payments", "draft")]
        assert send(client, "GET", "?limit=1", auth=("all", "pw")) == {"contracts": listed[:1], "next": "orders"}
        assert send(client, "GET", "?after=orders", auth=("all", "pw")) == {"contracts": listed[1:]}
        assert [each["topic"] for each in send(client, "GET", "", auth=("shop", "pw"))["contracts"]] == ["orders"]
        for method, path in (("GET", "/payments"), ("PUT", "/payments"), ("GET", "/payments/versions")):
            assert client.request(method, PATH + path, auth=("shop", "pw")).status_code == 403


def test_contracts_of_protected_subjects_need_a_waiver_or_break_glass(tmp_path: Path) -> None:
    (tmp_path / "owners.toml").write_text('[owners."orders-*"]\nowners = ["alice"]\nprotect = "breaking"\n')
    users = {"ci": {"read": [], "write": ["*"]}, "alice": {"read": ["*"], "write": []}}
    file = tmp_path / "users.toml"
    file.write_text("".join(format_entry(name, HashedPassword.of("pw"), **each) for name, each in users.items()))
    settings = Settings(database_url="sqlite://", users_file=str(file), owners_file=str(tmp_path / "owners.toml"))
    with in_process(settings) as client:
        client.auth = ("ci", "pw")
        register(client)
        send(client, "PUT", body=contract())  # the first version breaks nothing, nor does a description
        send(client, "PUT", body=contract(description={"purpose": "billing"}))
        code, message = refusal(client, "DELETE")
        assert code == 40382
        assert "changing the contract" in message
        assert "contractlog change waive orders-value --kind contract" in message
        changes = "/contractlog/v1/change-requests"
        waiver = {"waiver": {"kind": "contract", "days": 1}}
        request = {"subject": "orders-value", "reason": "r", "change": waiver}
        assert client.post(changes, json=request).status_code == 200
        approval = client.post(f"{changes}/1/approvals", json={"revision": 1}, auth=("alice", "pw"))
        assert approval.status_code == 200
        assert client.post(f"{changes}/1/merge").status_code == 200
        assert send(client, "DELETE") == [1, 2]


def test_consumers_are_listed_with_the_version_of_the_contract_that_they_use(node: httpx2.Client) -> None:
    assert refusal(node, "GET", "/orders/consumers")[0] == 40482
    send(node, "PUT", body=contract())
    register(node, ORDER_2)
    for schema_id in (1, 2):
        headers = {"User-Agent": f"billing-{schema_id}/1.0"}
        assert node.get(f"/schemas/ids/{schema_id}", headers=headers).status_code == 200
    node.app.state.services.fetch_counter.flush()  # type: ignore[attr-defined]
    event = job_event(inputs=[dataset("orders")], outputs=[dataset("invoices")])
    assert node.post("/contractlog/v1/lineage", json=event).status_code == 200
    consumers = send(node, "GET", "/orders/consumers")
    used = {(each["schema_version"], each["contract_version"]) for each in consumers["clients"]}
    assert used == {(1, 1), (2, None)}
    assert (consumers["version"], consumers["records"]) == (1, [])
    assert any("invoices" in each for each in consumers["downstream"])


def test_results_of_an_audit_belong_to_the_version_that_was_the_newest(node: httpx2.Client) -> None:
    audit = {**part("orders"), "quality": [{"rule": "enough", "outcome": "passed"}, "malformed"]}
    assert node.post("/contractlog/v1/conformance/orders", json=audit).status_code == 200
    send(node, "PUT", body=contract())
    assert "results" not in send(node, "GET")
    assert node.post("/contractlog/v1/conformance/orders", json=audit).status_code == 200
    send(node, "PUT", body=contract(domain="shop"))
    assert "results" not in send(node, "GET")
    (result,) = send(node, "GET", "/orders/versions/1")["results"]
    assert (result["part"], result["verdict"]) == ("value", audit["verdict"])
    assert result["quality"] == [{"rule": "enough", "outcome": "passed"}]
