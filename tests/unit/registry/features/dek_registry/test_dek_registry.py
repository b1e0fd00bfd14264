"""The DEK registry over HTTP, on every database: bodies, codes, deletion, sharing, and permissions."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import select, update

from contractlog.contracts.encryption.algorithms import DekAlgorithm, create_cipher, generate_key
from contractlog.contracts.encryption.local_kms import create_local_cipher
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.registry.storage.contexts import forget_context

from support.registry import in_process

KEKS = "/dek-registry/v1/keks"
SECRET = "a secret that nobody may find"  # noqa: S105
WRAPPED = base64.b64encode(b"wrapped by a client").decode()
KEK = {"name": "pii", "kmsType": "local-kms", "kmsKeyId": "key-1"}


@pytest.fixture
def node(database_url: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=database_url, local_kms_secret=SECRET)) as client:
        yield client


def send(node: httpx2.Client, method: str, path: str, body: Any = None, **options: Any) -> Any:
    """Send a request that succeeds; return its body."""
    answer = node.request(method, KEKS + path, json=body, **options)
    assert answer.status_code in {200, 204}, answer.text
    return answer.json() if answer.content else None


def refusal(node: httpx2.Client, method: str, path: str, body: Any = None, **options: Any) -> tuple[int, str]:
    """Send a request that is refused; return code and message."""
    answer = node.request(method, KEKS + path, json=body, **options)
    told = answer.json()
    assert answer.status_code == int(str(told["error_code"])[:3])
    return told["error_code"], told["message"]


def create_kek(node: httpx2.Client, **members: Any) -> dict[str, Any]:
    body: dict[str, Any] = send(node, "POST", "", KEK | members)
    return body


def create_dek(node: httpx2.Client, subject: str = "orders-value", **members: Any) -> dict[str, Any]:
    body: dict[str, Any] = send(node, "POST", f"/pii/deks/{subject}", {"encryptedKeyMaterial": WRAPPED} | members)
    return body


def changes(node: httpx2.Client) -> list[tuple[str, str]]:
    with node.app.state.services.store.open_snapshot() as snapshot:  # type: ignore[attr-defined]
        c = tables.changes.c
        return [tuple(row) for row in snapshot.connection.execute(select(c.action, c.target).order_by(c.sequence))]


def test_a_kek_has_its_members_in_order(node: httpx2.Client) -> None:
    created = create_kek(node, kmsProps={"region": "eu"}, doc="personal data")
    assert list(created) == ["name", "kmsType", "kmsKeyId", "kmsProps", "doc", "shared", "ts"]
    assert created["shared"] is False
    assert send(node, "GET", "/pii") == created
    assert send(node, "GET", "") == ["pii"]
    assert send(node, "GET", "/pii?context=.eu") == created


@pytest.mark.parametrize(
    ("given", "stored"),
    [("AWS", "aws-kms"), ("azure", "azure-kms"), ("gcp-kms", "gcp-kms"), ("hcvault", "hcvault"), ("own", "own")],
)
def test_kms_types_have_the_notation_of_the_reference(http: httpx2.Client, given: str, stored: str) -> None:
    assert create_kek(http, kmsType=given)["kmsType"] == stored


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"name": ""}, "name"), ({"name": "1a"}, "name"), ({"name": "a b"}, "name"), ({"name": "a" * 257}, "name"),
        ({"name": "-a"}, "name"), ({"name": None}, "name"), ({"kmsType": None}, "kmsType"),
        ({"kmsKeyId": None}, "kmsKeyId"), ({"kmsKeyId": "a\0"}, "kmsKeyId"), ({"kmsKeyId": "k" * 2049}, "kmsKeyId"),
        ({"doc": "a\0"}, "doc"), ({"kmsProps": {"a": "v" * 16_384}}, "kmsProps"), ({"doc": "d" * 65_537}, "doc"),
    ],
)  # fmt: skip
def test_a_kek_with_an_invalid_member_is_rejected(http: httpx2.Client, members: dict[str, Any], field: str) -> None:
    answer = http.post(KEKS, json=KEK | members)
    assert answer.json() == {"error_code": 42271, "message": f"Invalid or missing value for field '{field}' of key"}


@pytest.mark.parametrize(
    "name", ["secret", "client.secret", "token.id", "private.key", "approle.secret.id", "password", "sasl.jaas.config"]
)
def test_credentials_of_a_kms_are_never_stored(http: httpx2.Client, name: str) -> None:
    code, message = refusal(http, "POST", "", KEK | {"kmsProps": {name: SECRET}})
    assert code == 42271
    assert f"`{name}` is a credential" in message
    assert SECRET not in message
    assert create_kek(http, kmsProps={"private.key.id": "7", "role.arn": "a"})


def test_an_address_of_a_kms_has_no_credentials(http: httpx2.Client) -> None:
    key = f"https://user:{SECRET}@vault.example:8200/transit/keys/pii"
    code, message = refusal(http, "POST", "", KEK | {"kmsType": "hcvault", "kmsKeyId": key})
    assert code == 42271
    assert "'kmsKeyId'" in message
    assert SECRET not in message
    assert create_kek(http, kmsType="hcvault", kmsKeyId="https://vault.example:8200/transit/keys/a@b")


def test_an_existing_kek_is_not_created_again_unless_it_was_soft_deleted(node: httpx2.Client) -> None:
    create_kek(node)
    exists = (40971, "Key 'pii' already exists; use a different value")
    assert refusal(node, "POST", "", KEK) == exists
    send(node, "DELETE", "/pii")
    assert refusal(node, "GET", "/pii") == (40470, "Key 'pii' not found")
    assert send(node, "GET", "/pii?deleted=true")["deleted"] is True
    assert (send(node, "GET", ""), send(node, "GET", "?deleted=true")) == ([], ["pii"])
    assert refusal(node, "POST", "", KEK | {"doc": "another"}) == exists
    assert "deleted" not in create_kek(node)
    assert changes(node) == [("kek.created", "pii"), ("kek.soft_deleted", "pii"), ("kek.undeleted", "pii")]


def test_an_update_changes_what_it_names(node: httpx2.Client) -> None:
    created = create_kek(node, kmsProps={"a": "b"}, doc="d")
    assert send(node, "PUT", "/pii", {"kmsType": "ignored"}) == created
    changed = send(node, "PUT", "/pii", {"kmsProps": None, "shared": True})
    assert {"kmsProps": None, "doc": "d", "shared": True}.items() <= ({"kmsProps": None} | changed).items()
    assert refusal(node, "PUT", "/none", {}) == (40470, "Key 'none' not found")
    assert changes(node) == [("kek.created", "pii"), ("kek.updated", "pii")]


def test_a_kek_is_deleted_in_two_steps_after_its_deks(node: httpx2.Client) -> None:
    create_kek(node)
    create_dek(node)
    referenced = (42272, "One or more references exist to the key 'pii'")
    assert refusal(node, "DELETE", "/pii") == referenced
    send(node, "DELETE", "/pii/deks/orders-value")
    assert refusal(node, "DELETE", "/pii?permanent=true") == referenced
    send(node, "DELETE", "/pii/deks/orders-value?permanent=true")
    not_soft = "Key 'pii' was not deleted first before being permanently deleted"
    assert refusal(node, "DELETE", "/pii?permanent=true") == (40471, not_soft)
    send(node, "DELETE", "/pii")
    send(node, "DELETE", "/pii")
    send(node, "POST", "/pii/undelete")
    send(node, "DELETE", "/pii")
    send(node, "DELETE", "/pii?permanent=true")
    for method, path in (("DELETE", "/pii"), ("POST", "/pii/undelete"), ("GET", "/pii/deks")):
        assert refusal(node, method, path) == (40470, "Key 'pii' not found")


def test_a_dek_has_its_members_in_order_and_its_versions(node: httpx2.Client) -> None:
    create_kek(node)
    created = create_dek(node)
    assert list(created) == ["kekName", "subject", "version", "algorithm", "encryptedKeyMaterial", "ts"]
    assert (created["version"], created["algorithm"]) == (1, "AES256_GCM")
    second = create_dek(node, version=2)
    other = create_dek(node, version=7, algorithm="AES256_SIV")
    dek = "/pii/deks/orders-value"
    assert send(node, "GET", dek) == send(node, "GET", f"{dek}/versions/1") == created
    assert send(node, "GET", f"{dek}/versions/latest") == send(node, "GET", f"{dek}/versions/-1") == second
    assert send(node, "GET", f"{dek}/versions/latest?algorithm=AES256_SIV") == other
    assert send(node, "GET", f"{dek}/versions") == [1, 2, 7]
    assert send(node, "GET", f"{dek}/versions?algorithm=AES256_GCM&offset=1&limit=1") == [2]
    assert send(node, "GET", "/pii/deks") == ["orders-value"]
    assert node.get(KEKS + dek, params={"algorithm": "AES"}).status_code == 404
    assert refusal(node, "GET", f"{dek}/versions/0")[0] == 42202
    assert refusal(node, "GET", f"{dek}/versions/3") == (40470, "Key 'orders-value' not found")
    assert refusal(node, "GET", "/none/deks/orders-value") == (40470, "Key 'none' not found")


def test_a_dek_is_created_by_the_older_path_too(http: httpx2.Client) -> None:
    create_kek(http)
    created = send(http, "POST", "/pii/deks", {"subject": "s", "encryptedKeyMaterial": WRAPPED})
    assert created["subject"] == "s"
    assert refusal(http, "POST", "/pii/deks", {})[1] == "Invalid or missing value for field 'subject' of key"


@pytest.mark.parametrize(
    "members",
    [{"version": 0}, {"version": 2**31}, {"encryptedKeyMaterial": None}, {"encryptedKeyMaterial": "§"},
     {"encryptedKeyMaterial": "a" * 16_388}],
)  # fmt: skip
def test_a_dek_with_an_invalid_member_is_rejected(http: httpx2.Client, members: dict[str, Any]) -> None:
    create_kek(http)
    told = refusal(http, "POST", "/pii/deks/s", {"encryptedKeyMaterial": WRAPPED} | members)
    assert told == (42271, f"Invalid or missing value for field '{next(iter(members))}' of key")


@pytest.mark.parametrize("algorithm", DekAlgorithm)
def test_a_key_in_clear_is_never_stored(http: httpx2.Client, algorithm: DekAlgorithm) -> None:
    create_kek(http)
    clear = base64.b64encode(generate_key(algorithm)).decode()
    code, message = refusal(http, "POST", "/pii/deks/s", {"encryptedKeyMaterial": clear, "algorithm": algorithm})
    assert code == 42271
    assert "the key is not wrapped" in message
    assert clear not in message


def test_deks_are_deleted_in_two_steps_and_undeleted(node: httpx2.Client) -> None:
    create_kek(node)
    for version in (1, 2):
        create_dek(node, version=version)
    dek = "/pii/deks/orders-value"
    send(node, "DELETE", f"{dek}/versions/2")
    assert send(node, "GET", f"{dek}/versions") == [1]
    assert send(node, "GET", f"{dek}/versions?deleted=true") == [1, 2]
    assert send(node, "GET", f"{dek}/versions/2?deleted=true")["deleted"] is True
    assert send(node, "GET", f"{dek}/versions/latest")["version"] == 1
    not_soft = "Key 'orders-value' was not deleted first before being permanently deleted"
    assert refusal(node, "DELETE", f"{dek}?permanent=true") == (40471, not_soft)
    assert refusal(node, "DELETE", f"{dek}/versions/1?permanent=true") == (40471, not_soft)
    send(node, "POST", f"{dek}/versions/2/undelete")
    send(node, "DELETE", dek)
    assert refusal(node, "GET", dek) == (40470, "Key 'orders-value' not found")
    send(node, "DELETE", "/pii")
    undeleted_first = (40472, "Key 'pii' must be undeleted first")
    assert refusal(node, "POST", f"{dek}/undelete") == undeleted_first
    assert refusal(node, "POST", f"{dek}/versions/1/undelete") == undeleted_first
    send(node, "POST", "/pii/undelete")
    send(node, "POST", f"{dek}/undelete")
    assert send(node, "GET", f"{dek}/versions") == [1, 2]
    send(node, "DELETE", dek)
    send(node, "DELETE", f"{dek}?permanent=true")
    assert refusal(node, "DELETE", dek) == (40470, "Key 'orders-value' not found")
    assert refusal(node, "POST", f"{dek}/versions/1/undelete") == (40470, "Key 'orders-value' not found")


def test_an_equal_dek_that_was_soft_deleted_is_undeleted_with_its_age(node: httpx2.Client) -> None:
    create_kek(node)
    created = create_dek(node)
    exists = (40971, "Key 'orders-value' already exists; use a different value")
    assert refusal(node, "POST", "/pii/deks/orders-value", {"encryptedKeyMaterial": WRAPPED}) == exists
    send(node, "DELETE", "/pii/deks/orders-value")
    assert refusal(node, "POST", "/pii/deks/orders-value", {"encryptedKeyMaterial": "b3RoZXI="}) == exists
    assert create_dek(node) == created


def test_rewrapping_replaces_the_wrapped_key_and_keeps_the_age(node: httpx2.Client) -> None:
    create_kek(node)
    created = create_dek(node)
    other = {"encryptedKeyMaterial": "b3RoZXI="}
    assert send(node, "POST", "/pii/deks/orders-value?rewrap=true", other) == created | other
    assert changes(node)[-1] == ("dek.rewrapped", "pii/orders-value/AES256_GCM/1")


@pytest.mark.parametrize("algorithm", DekAlgorithm)
def test_keys_of_a_shared_kek_are_generated_and_wrapped_by_the_registry(
    node: httpx2.Client, algorithm: DekAlgorithm
) -> None:
    create_kek(node, shared=True)
    created = send(node, "POST", "/pii/deks/s", {"algorithm": algorithm})
    clear = base64.b64decode(created["keyMaterial"])
    assert create_local_cipher(SECRET).decrypt(base64.b64decode(created["encryptedKeyMaterial"])) == clear
    create_cipher(algorithm, clear)
    assert send(node, "GET", f"/pii/deks/s?algorithm={algorithm}") == created
    rewrapped = send(node, "POST", "/pii/deks/s?rewrap=true", {"algorithm": algorithm})
    assert rewrapped["keyMaterial"] == created["keyMaterial"]
    assert rewrapped["encryptedKeyMaterial"] != created["encryptedKeyMaterial"]
    with node.app.state.services.store.open_snapshot() as snapshot:  # type: ignore[attr-defined]
        rows = [row for table in tables.metadata.sorted_tables for row in snapshot.connection.execute(select(table))]
    assert created["keyMaterial"] not in repr(rows)
    assert SECRET not in repr(rows)


def test_a_soft_deleted_key_of_a_shared_kek_comes_back_as_it_was(node: httpx2.Client) -> None:
    create_kek(node, shared=True)
    created = send(node, "POST", "/pii/deks/s", {})
    send(node, "DELETE", "/pii/deks/s")
    assert send(node, "POST", "/pii/deks/s", {}) == created


def test_sharing_is_tested_on_request(http: httpx2.Client) -> None:
    assert refusal(http, "POST", "?testSharing=true", KEK)[1] == "Invalid or missing value for field 'shared' of key"
    assert send(http, "GET", "") == []
    code, message = refusal(http, "POST", "?testSharing=true", KEK | {"shared": True})
    assert code == 50070
    assert message.endswith("this registry has no secret for `local-kms`. Set CONTRACTLOG_LOCAL_KMS_SECRET")
    create_kek(http)
    assert refusal(http, "POST", "/pii/test")[0] == 42271
    assert refusal(http, "PUT", "/pii?testSharing=true", {"shared": True})[0] == 50070
    assert send(http, "GET", "/pii")["shared"] is False


def test_a_shared_kek_of_a_kms_without_driver_cannot_generate_keys(node: httpx2.Client) -> None:
    create_kek(node, shared=True, kmsType="aws-kms")
    code, message = refusal(node, "POST", "/pii/deks/s", {})
    assert code == 50070
    assert message == (
        "Could not generate encrypted dek for s: this registry has no driver for the KMS type `aws-kms`, only for "
        "`local-kms`. Use a KEK that is not shared"
    )


def test_a_key_that_another_secret_wrapped_is_an_error_without_the_key(node: httpx2.Client) -> None:
    create_kek(node, shared=True)
    send(node, "POST", "/pii/deks/s", {})
    with node.app.state.services.store.open_snapshot() as snapshot:  # type: ignore[attr-defined]
        snapshot.connection.execute(update(tables.deks).values(encrypted_key_material=WRAPPED))
        snapshot.connection.commit()
    code, message = refusal(node, "GET", "/pii/deks/s")
    assert (code, "wrapped with another key" in message) == (50070, True)
    assert WRAPPED not in message


def test_deks_belong_to_the_context_of_their_subject_and_keks_to_none(http: httpx2.Client) -> None:
    create_kek(http)
    answer = http.post("/contexts/.eu" + KEKS + "/pii/deks/s", json={"subject": "s", "encryptedKeyMaterial": WRAPPED})
    assert answer.json()["subject"] == ":.eu:s"
    assert send(http, "GET", "/pii/deks") == [":.eu:s"]
    assert send(http, "GET", "?subjectPrefix=:.eu:") == ["pii"]
    assert send(http, "GET", "?subjectPrefix=s") == []
    assert http.get("/contexts/.eu" + KEKS).json() == ["pii"]
    assert http.get("/contexts/.us" + KEKS).json() == []
    assert http.get("/contexts/.eu" + KEKS + "/pii").json()["name"] == "pii"


def test_forgetting_a_context_deletes_its_deks_and_no_others(node: httpx2.Client) -> None:
    create_kek(node)
    for subject in (":.eu:s", "s"):
        create_dek(node, subject)
    store = node.app.state.services.store  # type: ignore[attr-defined]
    store.transact(lambda change: forget_context(change, ".eu")).result(30)
    assert send(node, "GET", "/pii/deks?deleted=true") == ["s"]


def test_the_alias_for_deks_comes_before_the_alias(http: httpx2.Client) -> None:
    create_kek(http)
    http.put("/config/old", json={"alias": "first"})
    assert create_dek(http, "old")["subject"] == "first"
    http.put("/config/old", json={"alias": "first", "aliasForDeks": "second"})
    assert create_dek(http, "old")["subject"] == "second"
    assert send(http, "GET", "/pii/deks/old")["subject"] == "second"


def test_the_number_of_keys_is_limited(http: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("keks", "deks"):
        monkeypatch.setattr(f"contractlog.registry.features.dek_registry.{module}.MAX_KEYS", 1)
    create_kek(http)
    create_dek(http)
    reached = (40972, "A maximum of 1 keys already exist")
    assert refusal(http, "POST", "", KEK | {"name": "b"}) == reached
    assert refusal(http, "POST", "/pii/deks/other", {"encryptedKeyMaterial": WRAPPED}) == reached


def test_keys_need_a_permission_of_their_own_and_one_on_the_subject(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    password = HashedPassword.of("password", n=2, r=1, p=1)
    entries = [
        format_entry("all", password, [], ["*"]),
        format_entry("keys", password, ["orders-*"], ["orders-value"], read_keys=["other"], write_keys=["pii"]),
        format_entry("reader", password, ["orders-*"], [], read_keys=["pii"]),
        format_entry("admin", password, [], ["*"], write_keys=["*"]),
    ]
    users.write_text("\n".join(entries))
    with in_process(Settings(database_url="sqlite://", users_file=str(users), local_kms_secret=SECRET)) as node:
        admin, everything, keys, reader = ((name, "password") for name in ("admin", "all", "keys", "reader"))
        send(node, "POST", "", KEK | {"shared": True}, auth=keys)
        send(node, "POST", "", KEK | {"name": "more"}, auth=admin)
        refused = (40301, "User is denied operation Write on Key: more2")
        assert refusal(node, "POST", "", KEK | {"name": "more2"}, auth=keys) == refused
        assert refusal(node, "GET", "/pii", auth=everything) == (40301, "User is denied operation Read on Key: pii")
        assert refusal(node, "GET", "", auth=everything)[0] == 40301
        assert send(node, "GET", "", auth=keys) == ["pii"]
        created = send(node, "POST", "/pii/deks/orders-value", {}, auth=keys)
        denied = (40301, "User is denied operation Write on Subject: pay-value")
        assert refusal(node, "POST", "/pii/deks/pay-value", {}, auth=keys) == denied
        send(node, "POST", "/pii/deks/pay-value", {}, auth=admin)
        assert send(node, "GET", "/pii/deks/orders-value", auth=reader) == created
        assert send(node, "GET", "/pii/deks", auth=reader) == ["orders-value"]
        assert refusal(node, "GET", "/pii/deks/pay-value", auth=reader)[0] == 40301
        assert refusal(node, "DELETE", "/pii/deks/orders-value", auth=reader)[0] == 40301
        node.put("/config/orders-x", json={"alias": "pay-value"}, auth=admin)
        assert refusal(node, "GET", "/pii/deks/orders-x", auth=reader)[0] == 40301
        node.put("/config/orders-value", json={"aliasForDeks": "pay-value"}, auth=admin)
        assert refusal(node, "GET", "/pii/deks/orders-value", auth=reader)[0] == 40301
        assert node.get(KEKS).status_code == 401


def test_a_shared_kek_unwraps_no_key_that_a_caller_brings(node: httpx2.Client) -> None:
    """Otherwise the wrapped key of any other KEK could be unwrapped by sharing one with the same secret."""
    create_kek(node, shared=True)
    wrapped = send(node, "POST", "/pii/deks/orders-value", {})["encryptedKeyMaterial"]
    create_kek(node, name="mine", shared=True)
    code, message = refusal(node, "POST", "/mine/deks/mine-value", {"encryptedKeyMaterial": wrapped})
    assert code == 42271
    assert "encryptedKeyMaterial" in message


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_kek_whose_keys_callers_brought_cannot_become_shared(node: httpx2.Client, *, is_deleted: bool) -> None:
    create_kek(node)
    create_dek(node, "s")
    if is_deleted:
        send(node, "DELETE", "/pii/deks/s")
    assert refusal(node, "PUT", "/pii", {"shared": True}) == (42272, "One or more references exist to the key 'pii'")
    if is_deleted:
        send(node, "DELETE", "/pii")
        assert refusal(node, "POST", "", KEK | {"shared": True})[0] == 40971
