"""Contracts are exported and imported with all their versions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from fastapi import FastAPI

from contractlog.clients import Registry
from contractlog.clients.async_transport import AsyncTransport
from contractlog.compatibility.errors import ContractNotFound
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.file_format import format_content_lines, read_lines
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.rest_source import RestReader
from contractlog.registry.transfer.verification import verify

from support.export_lines import create_export

DOCUMENT = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1.0.0"}


@contextmanager
def running() -> Iterator[FastAPI]:
    app = create_app(Settings(database_url="sqlite://"))
    yield app
    app.state.close()


def create_contracts(app: FastAPI) -> None:
    with Registry(app=app) as registry:
        for topic in ("gone", "orders"):
            registry.put_contract(topic, DOCUMENT)
            registry.put_contract(topic, DOCUMENT | {"domain": "shop"})
        registry.delete_contract("gone")


def contents_of(app: FastAPI) -> RegistryContents:
    with app.state.services.store.open_snapshot() as snapshot:
        return read_database(snapshot)


def take_over(app: FastAPI, contents: RegistryContents) -> TransferReport:
    report = TransferReport()
    import_contents(app.state.services.store, contents, report)
    return report


def differences(app: FastAPI, contents: RegistryContents) -> list[str]:
    async def compare() -> list[str]:
        transport = AsyncTransport(None, app=app)
        try:
            return (await verify(transport, contents)).differences
        finally:
            await transport.close()

    return asyncio.run(compare())


def test_an_export_has_every_version_and_an_import_restores_it() -> None:
    with running() as source, running() as target:
        create_contracts(source)
        contents = contents_of(source)
        assert sorted(contents.contracts) == [("gone", 1), ("gone", 2), ("orders", 1), ("orders", 2)]
        lines = create_export()[:1] + list(format_content_lines(contents))
        lines.append(f'{{"kind": "end", "lines": {len(lines) + 1}}}')
        assert read_lines(lines, TransferReport()).contracts == contents.contracts
        assert take_over(target, contents).done["contracts changed"] == 4
        assert contents_of(target).contracts == contents.contracts
        assert differences(target, contents) == []
        assert take_over(target, contents).done["contracts changed"] == 0
        with Registry(app=target) as registry:
            assert registry.contract("orders")["document"] == DOCUMENT | {"domain": "shop"}
            assert registry.put_contract("gone", DOCUMENT)["version"] == 3


def test_another_content_of_a_version_is_a_conflict_and_a_difference() -> None:
    with running() as source, running() as target:
        create_contracts(source)
        with Registry(app=target) as registry:
            registry.put_contract("orders", DOCUMENT | {"domain": "other"})
        contents = contents_of(source)
        assert take_over(target, contents).conflicts == ["version 1 of the contract of orders is another one here"]
        assert any(text.startswith("contract orders/1: hash is") for text in differences(target, contents))


def test_a_deletion_in_the_source_is_made_in_the_target() -> None:
    with running() as source, running() as target:
        create_contracts(source)
        contents = contents_of(source)
        live = {key: replace(each, deleted_at=None) for key, each in contents.contracts.items()}
        take_over(target, replace(contents, contracts=live))
        assert take_over(target, contents).done["contracts changed"] == 2
        with Registry(app=target) as registry, pytest.raises(ContractNotFound):
            registry.contract("gone")


def test_a_running_registry_gives_its_live_contracts() -> None:
    async def read(app: FastAPI) -> RegistryContents:
        transport = AsyncTransport(None, app=app)
        try:
            return await RestReader(transport, TransferReport()).copy_contents()
        finally:
            await transport.close()

    with running() as source:
        create_contracts(source)
        contracts = asyncio.run(read(source)).contracts
        assert contracts == {key: each for key, each in contents_of(source).contracts.items() if key[0] == "orders"}
