"""Verification that a registry responds like the source of its import.

Compared are every version, id, lookup, setting, mode, association and encryption key.
"""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

from contractlog.clients.async_transport import AsyncTransport
from contractlog.clients.calls import Call
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import add_format
from contractlog.clients.cli.output import print_json, print_result
from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.clients.settings import Security, registry_url
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.errors import RegistryError, UsageError
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.limits import truncate
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.registry import database
from contractlog.registry.app import create_app
from contractlog.registry.features.contracts.queries import StoredContract
from contractlog.registry.features.dek_registry.key_values import StoredDek, StoredKek
from contractlog.registry.settings import Settings
from contractlog.registry.storage import bulk_transfer
from contractlog.registry.storage.associations import StoredAssociation
from contractlog.registry.storage.engines import mask_url
from contractlog.registry.transfer.cli_options import add_database, add_examples, add_source, open_source
from contractlog.registry.transfer.database_access import open_for_export
from contractlog.registry.transfer.file_format import FileSource
from contractlog.registry.transfer.import_plan import identify_schemas
from contractlog.registry.transfer.registry_contents import (
    RegistryContents,
    SchemaKey,
    TransferredSchema,
    TransferredVersion,
)
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.rest_source import get_call, get_scope_call, run_concurrently
from contractlog.registry.transfer.transferred_keys import kek_body

__all__ = ["VerificationResult", "verify", "verify_import"]

_MAX_CONCURRENT: Final = 16
_MAX_VALUE_LENGTH: Final = 80  #: characters of a value in a difference


@dataclass(slots=True)
class VerificationResult:
    """Numbers of compared responses by kind, and the differences."""

    compared: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


async def verify(
    transport: AsyncTransport,
    contents: RegistryContents,
    report_progress: Callable[[int, int], None] = lambda _done, _all: None,
    *,
    modes: bool = True,
) -> VerificationResult:
    """Compare the responses of a target with the state of the source.

    Args:
        transport: connected to the target.
        contents: of the source.
        report_progress: called with the number of requests done, and the total.
        modes: whether to compare modes; at the cutover the source's differs on purpose.
    """
    return await _Verification(transport, contents, report_progress, modes=modes).run()


class _Verification:
    """A verification run, with a bounded number of concurrent requests."""

    def __init__(
        self,
        transport: AsyncTransport,
        contents: RegistryContents,
        report_progress: Callable[[int, int], None],
        *,
        modes: bool,
    ) -> None:
        self._transport = transport
        self._contents = contents
        self._versions = [
            version
            for version in contents.versions.values()
            if "alias" not in contents.settings.get(version.subject, {})  # its paths lead to another subject
        ]
        self._contracts = [contract for contract in contents.contracts.values() if contract.deleted_at is None]
        self._report_progress = report_progress
        self._modes = contents.modes if modes else {}
        self._subject_ids = {(version.subject, version.schema_id) for version in contents.versions.values()}
        self._result = VerificationResult()

    async def run(self) -> VerificationResult:
        """Send all requests and compare the responses."""
        contents = self._contents
        comparisons: Iterator[Coroutine[Any, Any, None]] = chain(
            (self._version(version) for version in self._versions),
            (self._lookup(version) for version in self._versions),
            (self._id(key) for key in {version.schema for version in contents.versions.values()}),
            (self._check_retired_id(key) for key in contents.retired),
            (self._scope("config", scope, config) for scope, config in contents.settings.items()),
            (self._scope("mode", scope, {"mode": mode}) for scope, mode in self._modes.items()),
            (self._association(association) for association in contents.associations.values()),
            (self._kek(kek) for kek in contents.keks.values()),
            (self._dek(dek) for dek in contents.deks.values()),
            (self._contract(contract) for contract in self._contracts),
        )
        total = 2 * len(self._versions) + len({version.schema for version in contents.versions.values()})
        total += len(contents.retired) + len(contents.settings) + len(self._modes) + len(contents.associations)
        total += len(contents.keks) + len(contents.deks) + len(self._contracts)
        done = 0

        async def work() -> None:
            nonlocal done
            for comparison in comparisons:
                await comparison
                done += 1
                self._report_progress(done, total)

        await run_concurrently(work() for _ in range(_MAX_CONCURRENT))
        self._result.differences.sort()
        return self._result

    async def _fetch(self, kind: str, call: Call[Any]) -> Mapping[str, Any] | None:
        self._result.compared[kind] += 1
        try:
            body = await self._transport.send(call)
        except RegistryError as error:
            return {"error": f"responds with {error.error_code} {error.message}"}
        return body if isinstance(body, dict) else {"error": "responds with something other than an object"}

    def _compare(self, where: str, body: Mapping[str, Any] | None, expected: Mapping[str, Any]) -> None:
        actual = body or {}
        if "error" in actual:
            self._result.differences.append(f"{where}: {actual['error']}")
            return
        for name, value in expected.items():
            if actual.get(name) != value:
                difference = f"{_shorten(actual.get(name))} instead of {_shorten(value)}"
                self._result.differences.append(f"{where}: {name} is {difference}")

    async def _version(self, version: TransferredVersion) -> None:
        path = ("subjects", str(version.subject), "versions", str(version.version))
        body = await self._fetch("versions", get_call(*path, deleted="true"))
        expected = {"id": version.schema_id, "deleted": version.deleted_at is not None}
        expected |= _expected_body(self._contents.schemas[version.schema])
        if version.created_at is not None and version.deleted_at is None:
            expected["ts"] = version.created_at
        self._compare(f"{version.subject}/{version.version}", _normalize_response(body), expected)

    async def _id(self, key: SchemaKey) -> None:
        context, schema_id = key
        body = await self._fetch("ids", get_call("schemas", "ids", str(schema_id), subject=f":{context}:"))
        self._compare(
            f"id {schema_id} of context {context}",
            _normalize_response(body),
            _expected_body(self._contents.schemas[key]),
        )

    async def _lookup(self, version: TransferredVersion) -> None:
        """Look up a version's content: the result must be its id, or another id of the same content."""
        schema = self._contents.schemas[version.schema]
        path, query = ("subjects", str(version.subject)), (("deleted", "true"),)
        body = await self._fetch("lookups", Call("POST", path, lambda body: body, query, schema.draft.body()))
        where = f"lookup of {version.subject}/{version.version}"
        if not self._same(version, (body or {}).get("id")):
            self._compare(where, body, {"id": version.schema_id})

    def _same(self, version: TransferredVersion, schema_id: Any) -> bool:
        """Return whether an id is the version's, or another id of the subject with the same content."""
        other = self._contents.schemas.get((version.subject.context, schema_id)) if schema_id is not None else None
        if other is None or schema_id == version.schema_id:
            return other is not None
        pair = (_without_empty_members(other), _without_empty_members(self._contents.schemas[version.schema]))
        identified = identify_schemas(self._contents, pair)
        return (
            len({schema.content.hash for schema in identified.values()}) == 1
            and (version.subject, schema_id) in self._subject_ids
        )

    async def _check_retired_id(self, key: SchemaKey) -> None:
        context, schema_id = key
        body = await self._fetch("retired ids", get_call("schemas", "ids", str(schema_id), subject=f":{context}:"))
        if "error" not in (body or {}):
            self._result.differences.append(
                f"id {schema_id} of context {context}: is returned, although it was hard-deleted"
            )

    async def _scope(self, resource: str, scope: Subject, expected: Mapping[str, Any]) -> None:
        body = await self._fetch("settings" if resource == "config" else "modes", get_scope_call(resource, scope))
        self._compare(f"{resource} of {scope if scope.name else scope.context}", body, expected)

    async def _association(self, association: StoredAssociation) -> None:
        path = ("associations", "resources", association.resource_namespace, association.resource_name)
        body = await self._fetch(
            "associations",
            Call("GET", path, lambda bodies: {body["guid"]: body for body in bodies}),
        )
        members = association.body()
        compared = ("subject", "resourceId", "resourceType", "associationType", "lifecycle")
        expected = {name: members[name] for name in compared}
        where = f"{association.association_type} of {association.resource_namespace}/{association.resource_name}"
        actual = body if body and "error" in body else (body or {}).get(association.guid, {"error": "is missing"})
        self._compare(where, actual, expected)

    async def _kek(self, kek: StoredKek) -> None:
        body = await self._fetch("KEKs", get_call("dek-registry", "v1", "keks", kek.name, deleted="true"))
        members = kek_body(kek)
        expected = {name: members[name] for name in ("kmsType", "kmsKeyId", "shared")}
        expected |= {"kmsProps": members["kmsProps"] or {}, "doc": members["doc"] or "", "deleted": kek.deleted}
        self._compare(f"KEK {kek.name}", _with_defaults(body, {"kmsProps": {}, "doc": "", "deleted": False}), expected)

    async def _dek(self, dek: StoredDek) -> None:
        """Compare a DEK; differences have no keys, not even wrapped ones."""
        path = ("dek-registry", "v1", "keks", dek.id.kek_name, "deks", str(dek.id.subject))
        query = {"algorithm": dek.id.algorithm.value, "deleted": "true"}
        body = await self._fetch("DEKs", get_call(*path, "versions", str(dek.id.version), **query))
        actual = _with_defaults(body, {"deleted": False})
        actual["the wrapped key"] = "equal" if actual.get("encryptedKeyMaterial") == dek.wrapped_key else "another one"
        expected = {"the wrapped key": "equal", "deleted": dek.deleted}
        self._compare(f"DEK {dek.id.change_log_name}", actual, expected)

    async def _contract(self, contract: StoredContract) -> None:
        path = ("contractlog", "v1", "contracts", contract.topic, "versions", str(contract.version))
        body = await self._fetch("contracts", get_call(*path))
        self._compare(f"contract {contract.name}", body, {"hash": contract.hash})


def _with_defaults(body: Mapping[str, Any] | None, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response with defaults in place of members that are absent or empty."""
    return dict(body or {}) | {name: (body or {}).get(name) or default for name, default in defaults.items()}


def _without_empty_members(schema: TransferredSchema) -> TransferredSchema:
    """Return a schema without empty metadata and rules: for a lookup that is the same."""
    metadata, rule_set = schema.metadata, schema.rule_set
    return replace(
        schema,
        metadata=metadata if metadata and metadata.body() else None,
        rule_set=rule_set if rule_set and rule_set.body() else None,
    )


def _expected_body(schema: TransferredSchema) -> dict[str, Any]:
    """Return the members of a schema in API responses, in one form for all registries."""
    return {
        "schema": schema.text,
        "schemaType": schema.type.value,
        "references": [reference.body() for reference in schema.references],
        "metadata": _normalize_metadata(schema.metadata),
        "ruleSet": {} if schema.rule_set is None else schema.rule_set.body(),
        "guid": schema.content_guid,
    }


def _normalize_response(body: Mapping[str, Any] | None) -> dict[str, Any]:
    actual = dict(body or {})
    if "error" not in actual:
        metadata, rule_set = actual.get("metadata"), actual.get("ruleSet")
        actual["schemaType"] = actual.get("schemaType") or SchemaType.AVRO.value
        actual["references"] = [Reference.from_body(reference).body() for reference in actual.get("references") or ()]
        actual["metadata"] = _normalize_metadata(Metadata.from_body(metadata) if metadata else None)
        actual["ruleSet"] = RuleSet.from_body(rule_set).body() if rule_set else {}
    return actual


def _normalize_metadata(metadata: Metadata | None) -> dict[str, Any]:
    body = {} if metadata is None else metadata.body()
    if "sensitive" in body:
        body["sensitive"] = sorted(body["sensitive"])
    if "tags" in body:
        body["tags"] = {path: sorted(tags) for path, tags in body["tags"].items()}
    return body


def _shorten(value: Any) -> str:
    return truncate(repr(value), _MAX_VALUE_LENGTH)


_VERIFY: Final = "contractlog.verify-import/1"
_MAX_SHOWN: Final = 50


def verify_import(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Compare every version, id, lookup, setting and mode of a registry with its source."""
    add_examples(parser, "verify-import")
    add_source(parser)
    add_database(parser, "to verify, instead of a running registry")
    parser.add_argument(
        "--registry", metavar="URL", help="the running registry to verify (default: as for other commands)"
    )
    parser.add_argument("--no-modes", action="store_true", help="do not compare modes (READONLY …)")
    add_format(parser)
    options = parser.parse_args(argv)
    if options.registry and options.database_url:
        raise UsageError("pass --database-url or --registry, not both")
    if options.database_url and database.current_revision(options.database_url)[0] is None:
        masked_url = mask_url(options.database_url)
        raise UsageError(f"{masked_url} contains no registry")
    report = TransferReport()
    with open_source(options) as source:
        contents = report.count_contents(source.read_contents(report))
    verified = asyncio.run(_verify(options, contents))
    if options.database_url and isinstance(source, FileSource):
        _compare_times(options.database_url, contents, verified)
    if options.format == "json":
        body = {"compared": dict(verified.compared), "differences": verified.differences}
        print_json({"format": _VERIFY, **body, **report.body()})
    else:
        _print_result(verified)
    return exit_codes.FINDINGS if verified.differences else exit_codes.CLEAN


async def _verify(options: Namespace, contents: RegistryContents) -> VerificationResult:
    app = None
    if options.database_url:
        # Calls within this process need no credentials, whatever the environment requires of network clients.
        app = create_app(Settings.from_environment(database_url=options.database_url, users_file="", tls_client_ca=""))
        transport = AsyncTransport(None, app=app, timeout=options.timeout)
    else:
        security = Security.from_environment()
        transport = AsyncTransport(registry_url(options.registry), timeout=options.timeout, security=security)
    try:
        await transport.send(get_call("config"))  # a registry that does not respond is an error, not a difference
        with ProgressLine("comparing", "responses", sys.stderr, logged=False) as progress:
            return await verify(transport, contents, progress, modes=not options.no_modes)
    finally:
        await transport.close()
        if app is not None:
            app.state.close()


def _compare_times(database_url: str, state: RegistryContents, verified: VerificationResult) -> None:
    """Compare creation times of schemas.

    Only files and databases contain them; REST provides only the times of versions.
    """
    with open_for_export(database_url) as snapshot:
        stored_times = {(row.context, row.id): row.created_at for row in bulk_transfer.stream_schemas(snapshot)}
    for key, schema in sorted(state.schemas.items()):
        if schema.created_at is not None and stored_times.get(key, schema.created_at) != schema.created_at:
            detail = f"created is {stored_times[key]} instead of {schema.created_at}"
            verified.differences.append(f"id {schema.id} of context {schema.context}: {detail}")


def _print_result(verified: VerificationResult) -> None:
    compared = ", ".join(f"{number:,} {kind}" for kind, number in verified.compared.items())
    print_result(f"compared: {compared or 'nothing'}")
    print_result(f"{len(verified.differences):,} differences" if verified.differences else "no differences")
    for difference in verified.differences[:_MAX_SHOWN]:
        print_result(f"  {escape_line(difference)}")
    if len(verified.differences) > _MAX_SHOWN:
        print_result(f"  … and {len(verified.differences) - _MAX_SHOWN:,} more (--format json has them all)")
