"""Encryption keys are exported and imported as they are stored, if the caller has permission."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from contractlog.clients import Registry
from contractlog.clients.async_transport import AsyncTransport
from contractlog.clients.settings import Security
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.encryption.algorithms import DekAlgorithm, generate_key
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.file_format import format_content_lines, read_lines
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import OddityKind, TransferReport
from contractlog.registry.transfer.rest_source import RestReader
from contractlog.registry.transfer.verification import verify

from support.export_lines import DEK, KEK, create_content, create_export

SECRET = "the planted secret 4711"  # noqa: S105
PASSWORD = "password"  # noqa: S105
PLAINTEXT = base64.b64encode(generate_key(DekAlgorithm.AES256_SIV)).decode()
WRAPPED = "d3JhcHBlZCBieSB0aGUgY2xpZW50"


@contextmanager
def running(**settings: Any) -> Iterator[FastAPI]:
    app = create_app(Settings(database_url="sqlite://", local_kms_secret=SECRET, **settings))
    yield app
    app.state.close()


def contents_of(app: FastAPI) -> RegistryContents:
    with app.state.services.store.open_snapshot() as snapshot:
        return read_database(snapshot)


def take_over(app: FastAPI, contents: RegistryContents) -> TransferReport:
    report = TransferReport()
    import_contents(app.state.services.store, contents, report)
    return report


def create_keys(app: FastAPI) -> str:
    """Create keys of each kind; return a plaintext key that the registry shares."""
    with Registry(app=app) as registry:
        registry.create_kek("pii", "aws-kms", "arn:aws:kms:eu-central-1:1:key/1", kms_props={"a": "b"}, doc="why")
        for version in (1, 2):
            registry.create_dek("pii", "orders-value", WRAPPED, version=version, algorithm="AES256_SIV")
        registry.delete_dek_version("pii", "orders-value", 1, algorithm="AES256_SIV")
        registry.create_kek("gone", "local-kms", "key")
        registry.delete_kek("gone")
        registry.create_kek("shared", "local-kms", "key", shared=True)
        shared = registry.create_dek("shared", ":.eu:orders-value")
        assert shared.key_material is not None
        return shared.key_material


def differences(app: FastAPI, contents: RegistryContents) -> list[str]:
    async def compare() -> list[str]:
        transport = AsyncTransport(None, app=app)
        try:
            return (await verify(transport, contents)).differences
        finally:
            await transport.close()

    return asyncio.run(compare())


def read_by_rest(app: FastAPI, report: TransferReport, security: Security | None = None) -> RegistryContents:
    async def read() -> RegistryContents:
        transport = AsyncTransport(None, app=app, security=security)
        try:
            return await RestReader(transport, report).copy_contents()
        finally:
            await transport.close()

    return asyncio.run(read())


def test_keys_are_copied_by_file_and_by_rest_and_verified() -> None:
    with running() as source, running() as target, running() as copy:
        plaintext = create_keys(source)
        lines = list(format_content_lines(contents_of(source)))
        assert plaintext not in "".join(lines)
        assert SECRET not in "".join(lines)
        report = TransferReport()
        by_file = read_lines(create_export(*map(json.loads, lines)), report)
        done = take_over(target, by_file).done
        assert (done["KEKs changed"], done["DEKs changed"]) == (3, 3)
        assert list(format_content_lines(contents_of(target))) == lines
        assert not any(take_over(target, by_file).done.values())
        assert differences(target, by_file) == []

        by_rest = read_by_rest(source, report)
        assert (by_rest.keks, by_rest.deks, report.oddities) == (by_file.keks, by_file.deks, [])
        take_over(copy, by_rest)
        assert contents_of(copy).deks == by_file.deks
        with Registry(app=target) as registry:
            assert registry.dek("shared", ":.eu:orders-value").key_material == plaintext


def test_differences_name_the_key_and_show_none() -> None:
    with running() as source, running() as target:
        create_keys(source)
        contents = contents_of(source)
        take_over(target, contents)
        key, dek = next((key, dek) for key, dek in contents.deks.items() if not dek.deleted)
        contents.deks[key] = replace(dek, wrapped_key="b3RoZXI=", deleted=True)
        contents.keks["pii"] = replace(contents.keks["pii"], doc="other")
        told = differences(target, contents)
        assert told == [
            "DEK pii/orders-value/AES256_SIV/2: deleted is False instead of True",
            "DEK pii/orders-value/AES256_SIV/2: the wrapped key is 'another one' instead of 'equal'",
            "KEK pii: doc is 'why' instead of 'other'",
        ]
        assert "b3RoZXI=" not in str(take_over(target, contents).conflicts)


def test_changes_of_keys_are_followed() -> None:
    with running() as source, running() as target:
        create_keys(source)
        before = contents_of(source)
        take_over(target, before)
        with Registry(app=source) as registry:
            registry.update_kek("pii", doc="new")
            registry.create_dek("pii", "orders-value", "cmV3cmFwcGVk", version=2, algorithm="AES256_SIV", rewrap=True)
            registry.delete_dek_version("pii", "orders-value", 1, algorithm="AES256_SIV", permanent=True)
            registry.delete_kek("gone", permanent=True)
        now = contents_of(source)
        report = TransferReport()
        import_contents(target.state.services.store, now.changes_since(before), report, whole=now)
        assert report.conflicts == []
        assert list(format_content_lines(contents_of(target))) == list(format_content_lines(now))


@pytest.mark.parametrize(
    ("change", "conflict"),
    [
        ({"kmsKeyId": "other"}, "the KEK pii has another key of a KMS here"),
        ({"deleted": True}, "the KEK pii is deleted in the source, and has live DEKs here"),
    ],
)
def test_keys_of_another_registry_are_conflicts(change: dict[str, Any], conflict: str) -> None:
    with running() as target:
        kek = {**KEK, "kmsKeyId": "arn:aws:kms:eu-central-1:1:key/1"}
        create_keys(target)
        report = take_over(target, read_lines(create_export(kek | change), TransferReport()))
        assert report.conflicts == [conflict]
        assert not contents_of(target).keks["pii"].deleted


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (KEK | {"kmsProps": {"client.secret": SECRET}}, "`client.secret` is a credential"),
        (KEK | {"name": "1 key"}, "field 'name'"),
        (DEK | {"encryptedKeyMaterial": PLAINTEXT}, "the key is not wrapped"),
        (DEK | {"algorithm": SECRET}, "`algorithm`"),
    ],
)
def test_lines_that_no_registry_would_store_are_refused_without_their_secrets(line: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=rf"^line 2 of the file .*({problem})") as refused:
        read_lines(create_export(line), TransferReport())
    assert SECRET not in str(refused.value)
    assert PLAINTEXT not in str(refused.value)


def test_callers_import_only_the_keys_that_they_may_write(tmp_path: Path) -> None:
    users, password = tmp_path / "users.toml", HashedPassword.of(PASSWORD, n=2, r=1, p=1)
    entries = [
        format_entry("all", password, [], ["*"]),
        format_entry("pii", password, [], ["*"], write_keys=["pii"]),
    ]
    users.write_text("\n".join(entries))
    content = create_content(create_export(KEK, KEK | {"name": "other"}, DEK))
    with running(users_file=str(users)) as app:
        for user, names in {"all": [], "pii": ["pii"]}.items():
            security = Security(user=user, password=PASSWORD)
            told = asyncio.run(_post(app, content, user))
            assert told["read"].get("KEKs") == 2
            assert {oddity["kind"] for oddity in told["oddities"]} == {"KEYS_DENIED"}
            assert list(contents_of(app).keks) == names
            denied = TransferReport()
            assert list(read_by_rest(app, denied, security).keks) == names
        assert len(contents_of(app).deks) == 1


def test_shared_keks_are_imported_only_with_the_permission_on_all_keks(tmp_path: Path) -> None:
    """The registry unwraps their keys, so that a caller could bring the wrapped key of another KEK."""
    users, password = tmp_path / "users.toml", HashedPassword.of(PASSWORD, n=2, r=1, p=1)
    entries = [
        format_entry("pii", password, [], ["*"], write_keys=["pii"]),
        format_entry("keys", password, [], ["*"], write_keys=["*"]),
    ]
    users.write_text("\n".join(entries))
    content = create_content(create_export(KEK | {"shared": True}, DEK))
    with running(users_file=str(users)) as app:
        for user, names in {"pii": [], "keys": ["pii"]}.items():
            asyncio.run(_post(app, content, user))
            assert list(contents_of(app).keks) == names


async def _post(app: FastAPI, content: bytes, user: str) -> Any:
    import httpx2

    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", auth=(user, PASSWORD)) as client:
        response = await client.post("/contractlog/v1/import", content=content)
        assert response.status_code == 200, response.text
        return response.json()


def test_a_user_without_permissions_of_keys_is_told_that_they_are_left_out(tmp_path: Path) -> None:
    users, password = tmp_path / "users.toml", HashedPassword.of(PASSWORD, n=2, r=1, p=1)
    users.write_text(format_entry("all", password, [], ["*"]))
    with running(users_file=str(users)) as app:
        report = TransferReport()
        contents = read_by_rest(app, report, Security(user="all", password=PASSWORD))
        assert contents.keks == {}
        assert [(oddity.kind, oddity.where) for oddity in report.oddities] == [(OddityKind.KEYS_DENIED, "KEKs")]
