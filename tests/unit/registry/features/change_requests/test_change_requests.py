"""Change requests over HTTP: protection, approvals, merges, waivers and break-glass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings

from support.export_lines import ASSOCIATION, create_content, create_export
from support.lineage_events import dataset, job_event
from support.registry import in_process

PATH = "/contractlog/v1/change-requests"
PERMISSIONS = "/contractlog/v1/permissions/orders-value"
ORDER, ORDER_2 = (
    f'{{"type":"record","name":"Order","fields":[{fields}]}}'
    for fields in (
        '{"name":"id","type":"long"}',
        '{"name":"id","type":"long"},{"name":"n","type":["null","string"],"default":null}',
    )
)
BREAKING = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}'
OWNERS = """
[groups]
payments = ["alice", "bob"]

[owners."orders-*"]
owners = ["@payments", "carol"]
approvals = 2
protect = "all"

[owners."notes-*"]
owners = ["alice"]
"""
USERS: dict[str, dict[str, Any]] = {
    "ci": {"read": [], "write": ["*"]},
    "other-ci": {"read": [], "write": ["*"]},
    "alice": {"read": ["*"], "write": ["orders-*"]},
    "bob": {"read": ["orders-*"], "write": []},
    "carol": {"read": ["orders-*"], "write": []},
    "reader": {"read": ["other-*"], "write": []},
    "writer": {"read": [], "write": ["other-*"]},
}


class Node:
    """A client that sends requests as one of the users."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    def __call__(self, user: str, method: str, path: str, body: Any = None, **options: Any) -> httpx2.Response:
        return self._client.request(method, path, json=body, auth=(user, user), **options)

    def send(self, user: str, path: str, content: str | bytes) -> httpx2.Response:
        headers = {"Content-Type": "application/x-ndjson"}
        return self._client.post(path, content=content, headers=headers, auth=(user, user))

    def ok(self, user: str, method: str, path: str, body: Any = None, **options: Any) -> Any:
        answer = self(user, method, path, body, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def code(self, user: str, method: str, path: str, body: Any = None, **options: Any) -> int:
        answer = self(user, method, path, body, **options)
        assert answer.status_code == int(str(answer.json()["error_code"])[:3]), answer.text
        return int(answer.json()["error_code"])

    def open(self, change: dict[str, Any], subject: str = "orders-value", user: str = "ci") -> dict[str, Any]:
        body: dict[str, Any] = self.ok(user, "POST", PATH, {"subject": subject, "change": change, "reason": "r"})
        return body

    def approve(self, request: dict[str, Any], *users: str) -> None:
        for user in users:
            self.ok(user, "POST", f"{PATH}/{request['id']}/approvals", {"revision": request["revision"]})

    def merge(self, request: dict[str, Any], user: str = "ci") -> Any:
        return self.ok(user, "POST", f"{PATH}/{request['id']}/merge")

    def actions(self) -> list[str]:
        entries = self.ok("ci", "GET", "/contractlog/v1/changes")["changes"]
        return [entry["action"] for entry in entries]


def write_files(folder: Path) -> Settings:
    entries = (format_entry(name, HashedPassword.of(name, n=2, r=1, p=1), **each) for name, each in USERS.items())
    users = "".join(entries).replace("[users.other-ci]\n", '[users.other-ci]\nbreak_glass = ["orders-*"]\n')
    assert "break_glass" in users
    (folder / "users.toml").write_text(users)
    (folder / "owners.toml").write_text(OWNERS)
    return Settings(
        database_url="sqlite://", users_file=str(folder / "users.toml"), owners_file=str(folder / "owners.toml")
    )


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return write_files(tmp_path_factory.mktemp("access"))


@pytest.fixture
def node(settings: Settings, database_url: str) -> Iterator[Node]:
    with in_process(replace(settings, database_url=database_url)) as client:
        yield Node(client)


@pytest.fixture
def registered(node: Node) -> Node:
    """Return a registry in which the first version was approved and merged."""
    request = node.open({"schema": {"schema": ORDER}})
    node.approve(request, "alice", "bob")
    node.merge(request)
    return node


def test_a_protected_subject_changes_only_by_an_approved_change_request(node: Node) -> None:
    versions = "/subjects/orders-value/versions"
    answer = node("ci", "POST", versions, {"schema": ORDER})
    assert (answer.status_code, answer.json()["error_code"]) == (403, 40382)
    assert "contractlog change open orders-value SCHEMA_FILE --reason REASON" in answer.json()["message"]
    assert "2 approvals by its owners (alice, bob, carol)" in answer.json()["message"]
    request = node.open({"schema": {"schema": ORDER}})
    assert (request["status"], request["approvals_missing"], request["evidence"]["compatible"]) == ("open", 2, True)
    path = f"{PATH}/{request['id']}"
    assert node.code("ci", "POST", f"{path}/merge") == 40984
    assert node.code("ci", "POST", f"{path}/approvals", {"revision": 1}) == 40383
    node.approve(request, "alice", "alice")
    assert node.code("ci", "POST", f"{path}/merge") == 40984
    node.approve(request, "carol")
    assert node.code("bob", "POST", f"{path}/merge") == 40301
    merged = node.merge(request)
    assert (merged["status"], merged["ended_by"], merged["approvals"]) == ("merged", "ci", ["alice", "carol"])
    assert node.ok("ci", "GET", versions) == [1]
    assert node.ok("ci", "POST", versions, {"schema": ORDER})["id"] == 1  # a repeated registration changes nothing
    assert node.code("ci", "POST", f"{path}/merge") == 40983
    assert node.actions() == [
        "change_request.opened",
        "change_request.approved",
        "change_request.approved",
        "version.registered",
        "change_request.merged",
    ]


@pytest.mark.parametrize(
    ("subject", "downstream"),
    [("orders-value", 1), ("orders-key", 1), ("orders-eu", 0), ("orders-eu-value", 0), (":.eu:orders-value", 0)],
)
def test_a_change_reaches_what_is_made_from_the_topic_of_its_subject_alone(
    node: Node, subject: str, downstream: int
) -> None:
    event = job_event("refund", inputs=[dataset("orders")], outputs=[dataset("refunds")])
    node.ok("ci", "POST", "/contractlog/v1/lineage", event)
    assert len(node.open({"schema": {"schema": ORDER}}, subject)["reaches"]["downstream"]) == downstream


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/subjects/orders-value/versions", {"schema": ORDER_2}),
        ("POST", "/subjects/orders-value/versions?force=true", {"schema": BREAKING}),
        ("POST", "/subjects/orders-value/versions/1/tags", {"metadata": {"properties": {"a": "b"}}}),
        ("DELETE", "/subjects/orders-value", None),
        ("DELETE", "/subjects/orders-value/versions/1", None),
        ("PUT", "/config/orders-value", {"compatibility": "NONE"}),
        ("PUT", "/config/:.:", {"compatibility": "NONE"}),
        ("PUT", "/config", {"compatibility": "NONE"}),
        ("PUT", "/config/:.__GLOBAL:", {"compatibility": "NONE"}),
        ("PUT", "/mode/orders-value", {"mode": "READONLY"}),
        ("PUT", "/mode", {"mode": "READONLY"}),
        (
            "POST",
            "/associations",
            {
                "resourceName": "orders",
                "resourceNamespace": "-",
                "resourceId": "orders-id",
                "resourceType": "topic",
                "associations": [{"subject": "orders-value", "associationType": "value", "lifecycle": "WEAK"}],
            },
        ),
    ],
)
def test_no_write_reaches_a_protected_subject_directly(
    registered: Node, method: str, path: str, body: dict[str, Any] | None
) -> None:
    before = registered.actions()
    assert registered.code("ci", method, path, body) == 40382
    assert registered.actions() == before
    assert registered.ok("ci", "GET", "/subjects/orders-value/versions") == [1]


def test_a_topic_with_a_protected_subject_is_not_bound_to_another(registered: Node) -> None:
    registered.ok("ci", "POST", "/subjects/other-value/versions", {"schema": ORDER_2})
    resource = {"resourceName": "orders", "resourceNamespace": "b", "resourceId": "i", "resourceType": "topic"}
    bound = {"subject": "other-value", "associationType": "value", "lifecycle": "WEAK"}
    before = registered.actions()
    assert registered.code("ci", "POST", "/associations", {**resource, "associations": [bound]}) == 40382
    batch = {"requests": [{**resource, "associations": [{**bound, "opType": "CREATE"}]}]}
    refused = registered("ci", "POST", "/associations:batchMutate", batch).json()
    assert refused["results"][0]["error"]["error_code"] == 40382, refused
    lines = create_export({**ASSOCIATION, **resource, "subject": "other-value"})
    assert registered.send("ci", "/contractlog/v1/import", create_content(lines)).status_code == 403
    assert registered.actions() == before
    key = {**resource, "associations": [{**bound, "associationType": "key"}]}
    assert registered.code("ci", "POST", "/associations", key) == 40382


@pytest.mark.parametrize("subject", ["orders-value", "notes-value"])
def test_an_import_does_not_change_a_protected_subject(registered: Node, subject: str) -> None:
    lines = create_export(
        {"kind": "schema", "context": ".", "id": 9, "type": "AVRO", "schema": '"long"'},
        {"kind": "version", "subject": subject, "version": 2, "id": 9},
        {"kind": "version", "subject": "other-value", "version": 2, "id": 9},
    )
    before = registered.actions()
    answer = registered.send("ci", "/contractlog/v1/import", create_content(lines))
    assert (answer.status_code, answer.json()["error_code"]) == (403, 40382)
    assert registered.actions() == before


def test_a_subject_outside_the_rules_is_as_before(registered: Node) -> None:
    for schema in (ORDER, ORDER_2):
        registered.ok("ci", "POST", "/subjects/other-value/versions", {"schema": schema})
    registered.ok("ci", "PUT", "/config/other-value", {"compatibility": "NONE"})
    registered.ok("ci", "PUT", "/config/:.eu:", {"compatibility": "NONE"})
    assert registered.ok("ci", "DELETE", "/subjects/other-value") == [1, 2]


def test_by_default_compatible_versions_need_no_approval_and_breaking_changes_do(node: Node) -> None:
    versions = "/subjects/notes-value/versions"
    node.ok("ci", "POST", versions, {"schema": ORDER})
    node.ok("ci", "POST", versions, {"schema": ORDER_2})
    assert node.code("ci", "POST", f"{versions}?force=true", {"schema": BREAKING}) == 40382
    assert node.code("ci", "POST", versions, {"schema": BREAKING}) == 40901
    assert node.code("ci", "PUT", "/config/notes-value", {"compatibility": "NONE"}) == 40382
    assert node.code("ci", "DELETE", "/subjects/notes-value") == 40382
    request = node.open({"schema": {"schema": BREAKING}}, "notes-value")
    assert request["evidence"]["compatible"] is False
    assert request["evidence"]["reasons"]
    assert request["evidence"]["difference"]["kind"] == "breaking"
    node.approve(request, "alice")
    node.merge(request)
    assert node.ok("ci", "GET", versions) == [1, 2, 3]


def test_approvals_fall_when_the_proposal_is_changed(registered: Node) -> None:
    request = registered.open({"schema": {"schema": ORDER_2}})
    registered.approve(request, "alice", "bob")
    path = f"{PATH}/{request['id']}"
    body = {"subject": "orders-value", "change": {"schema": {"schema": BREAKING}}, "reason": "another"}
    assert registered.code("other-ci", "PUT", path, body) == 40383
    updated = registered.ok("ci", "PUT", path, body)
    assert (updated["revision"], updated["approvals"], updated["approvals_missing"]) == (2, [], 2)
    assert registered.code("ci", "POST", f"{path}/merge") == 40984
    assert registered.code("alice", "POST", f"{path}/approvals", {"revision": 1}) == 40982
    registered.approve(updated, "alice", "bob")
    assert registered.merge(updated)["status"] == "merged"


def test_a_registry_that_has_moved_is_reported_and_the_request_can_be_checked_again(registered: Node) -> None:
    first, second = (registered.open({"schema": {"schema": schema}}) for schema in (ORDER_2, BREAKING))
    for request in (first, second):
        registered.approve(request, "alice", "bob")
    registered.merge(first)
    answer = registered("ci", "POST", f"{PATH}/{second['id']}/merge")
    assert (answer.status_code, answer.json()["error_code"]) == (409, 40982)
    command = f"contractlog change open orders-value SCHEMA_FILE --update {second['id']} --reason REASON"
    assert answer.json()["message"].endswith(command)
    body = {"subject": "orders-value", "change": second["change"], "reason": "again"}
    updated = registered.ok("ci", "PUT", f"{PATH}/{second['id']}", body)
    registered.approve(updated, "alice", "carol")
    registered.merge(updated)
    assert registered.ok("ci", "GET", "/subjects/orders-value/versions") == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "arguments"),
    [
        ({"deletion": {}}, "--delete all"),
        ({"deletion": {"version": 1, "permanent": True}}, "--delete 1 --permanent"),
        ({"config": {"compatibility": "NONE"}}, "--level NONE"),
        ({"mode": {"mode": "READONLY"}}, "--mode READONLY"),
    ],
)
def test_the_command_for_a_new_check_has_the_change(registered: Node, change: dict[str, Any], arguments: str) -> None:
    moving = registered.open({"schema": {"schema": ORDER_2}})
    if change.get("deletion", {}).get("permanent"):
        deletion = registered.open({"deletion": {"version": 1}})
        registered.approve(deletion, "alice", "bob")
        registered.merge(deletion)
        moving = registered.open({"schema": {"schema": ORDER_2}})
    request = registered.open(change)
    for each in (moving, request):
        registered.approve(each, "alice", "bob")
    registered.merge(moving)
    answer = registered("ci", "POST", f"{PATH}/{request['id']}/merge")
    assert f"change open orders-value {arguments} --update {request['id']} --reason REASON" in answer.json()["message"]


def test_settings_and_deletions_are_proposed_too(registered: Node) -> None:
    for change in (
        {"config": {"compatibility": "NONE"}},
        {"mode": {"mode": "READONLY"}},
        {"mode": {"mode": None}},
        {"deletion": {"version": 1}},
        {"deletion": {"permanent": True}},
    ):
        request = registered.open(change)
        registered.approve(request, "alice", "bob")
        registered.merge(request)
    assert registered.code("ci", "GET", "/subjects/orders-value/versions") == 40401
    assert registered.code("ci", "GET", "/config/orders-value") == 40408  # deleted with the last version


def test_a_waiver_permits_its_user_one_kind_of_change(registered: Node) -> None:
    versions = "/subjects/orders-value/versions"
    waiver = {"waiver": {"kind": "registration", "days": 7}}
    request = registered.open(waiver)
    assert registered.code("ci", "POST", versions, {"schema": ORDER_2}) == 40382
    registered.approve(request, "alice", "bob")
    registered.merge(request)
    (listed,) = registered.ok("bob", "GET", "/contractlog/v1/waivers")["waivers"]
    assert (listed["subject"], listed["user"], listed["change_request"]) == ("orders-value", "ci", request["id"])
    assert registered.code("other-ci", "POST", versions, {"schema": ORDER_2}) == 40382
    registered.ok("ci", "POST", versions, {"schema": ORDER_2})
    assert registered.code("ci", "DELETE", "/subjects/orders-value") == 40382
    assert registered.actions()[-2:] == ["version.registered", "protection.waived"]


def test_a_waiver_is_granted_although_its_subject_has_changed(registered: Node) -> None:
    waiver = registered.open({"waiver": {"kind": "registration", "days": 7}})
    version = registered.open({"schema": {"schema": ORDER_2}})
    for request in (waiver, version):
        registered.approve(request, "alice", "bob")
    registered.merge(version)
    assert registered.merge(waiver)["status"] == "merged"


def test_a_subject_without_owners_has_no_waivers(node: Node) -> None:
    proposal = {"subject": "other-value", "change": {"waiver": {"kind": "registration", "days": 7}}, "reason": "r"}
    assert node.code("ci", "POST", PATH, proposal) == 42285


def test_a_waiver_permits_nothing_that_its_approvals_would_not_permit_now(tmp_path: Path) -> None:
    settings = replace(write_files(tmp_path), database_url=f"sqlite:///{tmp_path / 'registry.db'}")
    owners = tmp_path / "owners.toml"
    owners.write_text(OWNERS.replace("approvals = 2", "approvals = 1"))
    with in_process(settings) as client:
        node = Node(client)
        request = node.open({"waiver": {"kind": "registration", "days": 7}})
        node.approve(request, "alice")
        node.merge(request)
        assert list(node.ok("ci", "GET", PERMISSIONS)["waived"]) == ["registration"]
    owners.write_text(OWNERS)
    with in_process(settings) as client:
        assert Node(client).code("ci", "POST", "/subjects/orders-value/versions", {"schema": ORDER}) == 40382
        assert Node(client).ok("ci", "GET", PERMISSIONS).get("waived", {}) == {}


def test_approvals_of_owners_who_are_no_users_do_not_count(tmp_path: Path) -> None:
    settings = replace(write_files(tmp_path), database_url=f"sqlite:///{tmp_path / 'registry.db'}")
    users = tmp_path / "users.toml"
    with in_process(settings) as client:
        request = Node(client).open({"schema": {"schema": ORDER}})
        Node(client).approve(request, "alice", "bob")
    users.write_text(users.read_text().replace("[users.bob]", "[users.bobby]"))
    with in_process(settings) as client:
        assert Node(client).code("ci", "POST", f"{PATH}/{request['id']}/merge") == 40984
        assert Node(client).ok("ci", "GET", f"{PATH}/{request['id']}")["approvals_missing"] == 1


def test_owners_who_are_no_users_are_logged_at_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = write_files(tmp_path)
    (tmp_path / "owners.toml").write_text('[owners."orders-*"]\nowners = ["alice", "nobody"]\n')
    with in_process(settings):
        assert "owners who are not in the users file cannot approve: 'nobody'" in caplog.text


def test_break_glass_needs_its_own_permission_and_leaves_an_entry(registered: Node) -> None:
    versions, headers = "/subjects/orders-value/versions", {"Contractlog-Break-Glass": "incident 42"}
    assert registered.code("ci", "POST", versions, {"schema": ORDER_2}, headers=headers) == 40382
    assert registered.code("other-ci", "POST", versions, {"schema": ORDER_2}) == 40382
    registered.ok("other-ci", "POST", versions, {"schema": ORDER_2}, headers=headers)
    entry = registered.ok("ci", "GET", "/contractlog/v1/changes")["changes"][-1]
    assert (entry["action"], entry["actor"], entry["target"]) == ("protection.bypassed", "other-ci", "orders-value")
    assert entry["details"] == {"kind": "registration", "reason": "incident 42"}
    metrics = registered("ci", "GET", "/metrics").text
    assert "contractlog_protection_bypasses_total 1" in metrics


def test_lists_leave_out_what_the_caller_may_not_read(registered: Node) -> None:
    assert len(registered.ok("bob", "GET", PATH)["change_requests"]) == 1
    assert registered.ok("reader", "GET", PATH)["change_requests"] == []
    assert registered.ok("ci", "GET", f"{PATH}?status=open")["change_requests"] == []
    assert registered.ok("ci", "GET", f"{PATH}?status=merged&subject=orders-value&limit=1")["next"] == 1
    assert registered.code("reader", "GET", f"{PATH}/1") == 40481
    assert registered.code("reader", "POST", f"{PATH}/1/approvals", {"revision": 1}) == 40481
    assert registered.code("writer", "POST", f"{PATH}/1/merge") == 40481
    update = {"subject": "other-value", "change": {"mode": {"mode": "READONLY"}}, "reason": "r"}
    assert registered.code("writer", "PUT", f"{PATH}/1", update) == 40481
    for number in ("7", "x", "1" * 30):
        assert registered.code("ci", "GET", f"{PATH}/{number}") == 40481


def test_permissions_name_the_protection_only_to_those_who_may_read_or_write_the_subject(registered: Node) -> None:
    path = "/contractlog/v1/permissions/orders-value"
    assert set(registered.ok("reader", "GET", path)) == {"user", "subject", "read", "write"}
    request = registered.open({"mode": {"mode": "READONLY"}})
    for user in ("ci", "bob"):
        body = registered.ok(user, "GET", path)
        assert (body["protection"], body["approvals"], body["owners"]) == ("all", 2, ["alice", "bob", "carol"])
        assert (body["waived"], body["open_requests"]) == ({}, [{"id": request["id"], "kind": "settings"}])


def test_callers_without_any_write_permission_learn_which_subject_they_may_not_write(registered: Node) -> None:
    request = registered.open({"schema": {"schema": ORDER_2}})
    registered.approve(request, "alice", "bob")
    proposal = {"subject": "orders-value", "change": {"schema": {"schema": BREAKING}}, "reason": "r"}
    for path, body in ((PATH, proposal), (f"{PATH}/{request['id']}/merge", None)):
        answer = registered("bob", "POST", path, body)
        assert answer.json()["error_code"] == 40301
        assert answer.json()["message"] == "User is denied operation Write on Subject: orders-value"
    assert registered.code("reader", "POST", f"{PATH}/{request['id']}/merge") == 40481
    for change in ({"waiver": {"kind": "registration", "days": 7}}, {"mode": {"mode": "READONLY"}}, {"deletion": {}}):
        assert registered.code("bob", "POST", PATH, {**proposal, "change": change}) == 40301
    assert registered.ok("ci", "GET", f"{PATH}/{request['id']}")["status"] == "open"


def test_comments_and_closing(registered: Node) -> None:
    path = f"{PATH}/{registered.open({'mode': {'mode': 'READONLY'}})['id']}"
    body = registered.ok("bob", "POST", f"{path}/comments", {"text": "why?"})
    assert [(each["author"], each["text"]) for each in body["comments"]] == [("bob", "why?")]
    assert registered.code("bob", "POST", f"{path}/comments", {"text": " "}) == 42285
    assert registered.ok("bob", "POST", f"{path}/close")["status"] == "closed"
    assert registered.code("alice", "POST", f"{path}/approvals", {"revision": 1}) == 40983


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"change": {}}, 42285),
        ({"change": {"mode": {"mode": "READONLY"}, "config": {}}}, 42285),
        ({"change": {"config": {}}}, 42285),
        ({"change": {"mode": {"mode": "x"}}}, 42204),
        ({"change": {"schema": {"schema": "{"}}}, 42201),
        ({"change": {"schema": {"schema": ORDER}}}, 42285),  # it exists
        ({"change": {"waiver": {"kind": "x", "days": 1}}}, 42285),
        ({"change": {"waiver": {"kind": "deletion", "days": 91}}}, 42285),
        ({"change": {"deletion": {"version": 9}}}, 40402),
        ({"change": {"mode": {"mode": "READONLY"}}, "reason": ""}, 42285),
        ({"change": {"mode": {"mode": "READONLY"}}, "days": 0}, 42285),
        ({"change": {"mode": {"mode": "READONLY"}}, "source": {"url": "file:///etc/passwd"}}, 42285),
        ({"reason": "r"}, 400),
    ],
)
def test_invalid_proposals_are_rejected(registered: Node, body: dict[str, Any], code: int) -> None:
    complete = {"subject": "orders-value", "reason": "r", **body}
    assert registered.code("ci", "POST", PATH, complete) == code


def test_an_owners_file_needs_users(tmp_path: Path) -> None:
    file = tmp_path / "owners.toml"
    file.write_text(OWNERS)
    with pytest.raises(UsageError, match="needs a users file"):
        create_app(Settings(database_url="sqlite://", owners_file=str(file)))
