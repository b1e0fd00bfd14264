"""A verification finds every kind of difference, and no false ones."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from contractlog.clients.async_transport import AsyncTransport
from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry.app import create_app
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.transfer.database_access import open_for_import
from contractlog.registry.transfer.file_format import format_lines
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    RetiredId,
    TransferredSchema,
    TransferredVersion,
)
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.rest_source import RestReader
from contractlog.registry.transfer.verification import verify, verify_import

from support.snapshots import snapshots

S, T = Subject(".", "s"), Subject(".eu", "t")
GUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def source() -> RegistryContents:
    state = RegistryContents()
    state.schemas = {
        (".", 1): TransferredSchema(
            ".", 1, SchemaType.AVRO, '"int"', metadata=Metadata(properties={"a": "b"}), created_at=5
        ),
        (".eu", 3): TransferredSchema(".eu", 3, SchemaType.JSON, '{"type":"object"}', created_at=6),
    }
    state.versions = {(S, 1): TransferredVersion(S, 1, 1, 5), (T, 2): TransferredVersion(T, 2, 3, 6, deleted_at=9)}
    state.settings = {S: {"compatibilityLevel": "FULL"}}
    state.modes = {T: "READONLY"}
    state.retired = {(".", 9): RetiredId(7, "me")}
    state.associations = {
        GUID: StoredAssociation(GUID, S, "r1", "t", "ns", "topic", "value", Lifecycle.WEAK, frozen=False)
    }
    state.raise_counters()
    return state


def differences(held: RegistryContents, expected: RegistryContents) -> list[str]:
    """Import a state into a registry, and compare its answers with another state."""
    configured = Settings(database_url="sqlite://")
    store = open_store(configured)
    import_contents(store, held, report := TransferReport())
    assert report.conflicts == []
    app = create_app(configured, store)

    async def ask() -> list[str]:
        transport = AsyncTransport(None, app=app)
        try:
            return (await verify(transport, expected)).differences
        finally:
            await transport.close()

    try:
        return asyncio.run(ask())
    finally:
        app.state.close()


def schema(change: Callable[[TransferredSchema], TransferredSchema]) -> Callable[[RegistryContents], None]:
    def plant(state: RegistryContents) -> None:
        state.schemas[".", 1] = change(state.schemas[".", 1])

    return plant


def version(change: Callable[[TransferredVersion], TransferredVersion]) -> Callable[[RegistryContents], None]:
    def plant(state: RegistryContents) -> None:
        state.versions[S, 1] = change(state.versions[S, 1])

    return plant


#: What the target has otherwise than the source, and the beginning of what is found.
PLANTED: list[tuple[Callable[[RegistryContents], None], str]] = [
    (schema(lambda one: replace(one, text='"long"')), "id 1 of context .: schema is '\"long\"' instead of"),
    (schema(lambda one: replace(one, type=SchemaType.JSON, text='{"a":1}')), "id 1 of context .: schemaType is 'JSON'"),
    (schema(lambda one: replace(one, metadata=None)), "id 1 of context .: metadata is {} instead of"),
    (schema(lambda one: replace(one, guid="0" * 8 + "-0000" * 3 + "-" + "0" * 12)), "id 1 of context .: guid is"),
    (
        schema(lambda one: replace(one, references=(Reference("n", "s", 1),))),
        "id 1 of context .: references is [{'name': 'n'",
    ),
    (version(lambda one: replace(one, deleted_at=8)), "s/1: deleted is True instead of False"),
    (version(lambda one: replace(one, created_at=8)), "s/1: ts is 8 instead of 5"),
    (
        lambda state: state.settings.update({S: {"compatibilityLevel": "NONE"}}),
        "config of s: compatibilityLevel is",
    ),
    (lambda state: state.settings.clear(), "config of s: responds with 40408"),
    (lambda state: state.modes.clear(), "mode of :.eu:t: responds with 40409"),
    (lambda state: state.associations.clear(), "value of ns/t: is missing"),
    (
        lambda state: state.associations.update({GUID: replace(state.associations[GUID], resource_id="r2")}),
        "value of ns/t: resourceId is 'r2' instead of 'r1'",
    ),
]


def test_a_verification_after_an_import_finds_no_difference() -> None:
    assert differences(source(), source()) == []


@pytest.mark.parametrize(("plant", "found"), PLANTED)
def test_a_planted_difference_is_found(plant: Callable[[RegistryContents], None], found: str) -> None:
    held = source()
    plant(held)
    assert [one for one in differences(held, source()) if one.startswith(found)] != []


def test_an_id_that_answers_though_it_was_deleted_for_good_is_found() -> None:
    expected = source()
    expected.versions.pop((S, 1))
    expected.schemas.pop((".", 1))
    expected.retired[".", 1] = RetiredId(1)
    assert "id 1 of context .: is returned, although it was hard-deleted" in differences(source(), expected)


def test_a_version_that_is_missing_is_found_by_version_id_and_lookup() -> None:
    expected, other = source(), Subject(".", "other")
    expected.schemas[".", 2] = TransferredSchema(".", 2, SchemaType.AVRO, '"long"', created_at=1)
    expected.versions[other, 1] = TransferredVersion(other, 1, 2, 1)
    found = differences(source(), expected)
    assert [one.split(": ")[0] for one in found] == ["id 2 of context .", "lookup of other/1", "other/1"]


@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(state=snapshots())
def test_any_registry_answers_after_its_import_as_it_did_before(state: RegistryContents) -> None:
    """What a version answers with finds it again, soft-deleted or not, understood or not."""
    assert [one for one in differences(state, state) if not one.startswith(("config", "mode"))] == []


def test_a_database_that_is_not_there_is_not_made_to_be_compared(tmp_path: Path) -> None:
    """A mistyped name is no registry in which everything is missing."""
    missing = tmp_path / "typo.db"
    with pytest.raises(UsageError, match="contains no registry"):
        verify_import(ArgumentParser(), ["export.ndjson", "--database-url", f"sqlite:///{missing}"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("times", [(7, 3), (3, 7)])
def test_a_schema_read_over_rest_is_as_old_as_the_first_version_that_holds_it(times: tuple[int, int]) -> None:
    held = RegistryContents(schemas={(".", 1): TransferredSchema(".", 1, SchemaType.AVRO, '"int"', created_at=3)})
    for name, created in zip("ab", times, strict=True):
        held.versions[Subject(".", name), 1] = TransferredVersion(Subject(".", name), 1, 1, created)
    held.raise_counters()
    app = create_app(Settings(database_url="sqlite://"), store := open_store(Settings(database_url="sqlite://")))
    import_contents(store, held, TransferReport())

    async def read() -> RegistryContents:
        transport = AsyncTransport(None, app=app)
        try:
            return await RestReader(transport, TransferReport()).copy_contents()
        finally:
            await transport.close()

    try:
        assert [one.created_at for one in asyncio.run(read()).schemas.values()] == [3]
    finally:
        app.state.close()


def test_another_time_of_a_schema_is_found_where_a_file_and_a_database_tell_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, database_url = tmp_path / "export.ndjson", f"sqlite:///{tmp_path / 'registry.db'}"
    file.write_text("\n".join(format_lines(source(), {})), encoding="utf-8")
    for change, found in (
        (lambda one: one, []),
        (lambda one: replace(one, created_at=8), ["  id 1 of context .: created is 8 instead of 5"]),
    ):
        held = source()
        schema(change)(held)
        Path(tmp_path / "registry.db").unlink(missing_ok=True)
        with open_for_import(database_url) as store:
            import_contents(store, held, TransferReport())
        assert verify_import(ArgumentParser(), [str(file), "--database-url", database_url]) == bool(found)
        assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")] == found
