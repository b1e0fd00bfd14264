"""Requests for everything that a registry stores, none of which may return a 5xx response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlalchemy import delete, insert

from contractlog.compatibility.identifiers import GLOBAL_CONTEXT
from contractlog.registry.storage import tables
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import FIRST_CONTEXT
from contractlog.registry.storage.transaction import Transaction
from contractlog.registry.transfer.database_access import read_database
from contractlog.registry.transfer.file_format import format_lines, read_lines
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import TransferReport

if TYPE_CHECKING:
    import httpx2

_GENERAL_PATHS = (
    "/subjects?deleted=true",
    "/subjects?subjectPrefix=:*:&deleted=true",
    "/schemas?subjectPrefix=:*:&deleted=true",
    "/contexts",
    "/config",
    "/mode",
    "/associations/resources/-/-",
    "/contractlog/v1/changes",
    "/contractlog/v1/search?field=a",
)


def empty_registry(client: httpx2.Client) -> None:
    """Delete everything in the registry of a client of ``in_process``."""

    def work(transaction: Transaction) -> None:
        for table in reversed(tables.metadata.sorted_tables):
            if table is not tables.change_log_counters:
                transaction.connection.execute(delete(table))
        transaction.connection.execute(insert(tables.contexts).values(name=FIRST_CONTEXT, next_schema_id=1))

    services = client.app.state.services  # type: ignore[attr-defined]
    services.store.transact(work).result()
    services.cache.forget_all()


def read_everything(client: httpx2.Client, store: Store) -> RegistryContents:
    """Request everything, export it, and read the export; return the registry's state."""
    with store.open_snapshot() as snapshot:
        state = read_database(snapshot)
    for path in (*_GENERAL_PATHS, *_paths(state)):
        response = client.get(path)
        assert response.status_code < 500, (path, response.text)
        if not path.partition("?")[0].endswith("/schema"):  # the schema's text, which need not be JSON
            response.json()
    for subject in {version.subject for version in state.versions.values()}:
        for path in ("/subjects/{}/versions", "/subjects/{}", "/compatibility/subjects/{}/versions/latest"):
            response = client.post(path.format(quote(str(subject), safe="")), json={"schema": '"boolean"'})
            assert response.status_code < 500, (path, response.text)
    with store.open_snapshot() as snapshot:
        lines = list(format_lines(read_database(snapshot), {}))
    assert list(format_lines(read_lines(lines, TransferReport()), {})) == lines
    return state


def _key_paths(state: RegistryContents) -> Iterator[str]:
    for kek in state.keks:
        path = f"/dek-registry/v1/keks/{quote(kek, safe='')}"
        yield from (f"{path}?deleted=true", f"{path}/deks?deleted=true")
    for dek in (each.id for each in state.deks.values()):
        path = f"/dek-registry/v1/keks/{quote(dek.kek_name, safe='')}/deks/{quote(str(dek.subject), safe='')}"
        yield f"{path}/versions/{dek.version}?algorithm={dek.algorithm}&deleted=true"


def _paths(state: RegistryContents) -> Iterator[str]:
    associated = {association.subject for association in state.associations.values()}
    for subject in sorted(state.subjects | state.settings.keys() | state.modes.keys() | associated):
        name = quote(str(subject) if subject.name else f":{subject.context}:", safe="")
        yield from (f"/config/{name}", f"/config/{name}?defaultToGlobal=true", f"/mode/{name}")
        if subject.name and subject.context != GLOBAL_CONTEXT:
            yield from (f"/subjects/{name}/versions?deleted=true", f"/subjects/{name}/versions/latest")
            yield from (f"/associations/subjects/{name}", f"/contractlog/v1/graph/{name}")
    for subject, number in state.versions:
        path = f"/subjects/{quote(str(subject), safe='')}/versions/{number}"
        yield from (f"{path}?deleted=true", f"{path}/schema?deleted=true", f"{path}/referencedby")
    for context, schema_id in (*state.schemas, *state.retired):
        scope = f"subject={quote(f':{context}:', safe='')}"
        yield f"/schemas/ids/{schema_id}?{scope}"
        yield from (f"/schemas/ids/{schema_id}/{part}?{scope}" for part in ("schema", "subjects", "versions"))
    for schema in state.schemas.values():
        if schema.guid:
            yield from (f"/schemas/guids/{schema.guid}", f"/schemas/guids/{schema.guid}/ids")
    yield from _key_paths(state)
    for association in state.associations.values():
        names = (quote(name, safe="") for name in (association.resource_namespace, association.resource_name))
        yield "/associations/resources/" + "/".join(names)
        if association.resource_id:
            yield f"/associations/resources/{quote(association.resource_id, safe='')}"
