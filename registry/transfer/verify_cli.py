"""Command-line verb ``verify-import``."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Final

from contractlog.clients.async_transport import AsyncTransport
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import add_format
from contractlog.clients.cli.output import print_json, print_result
from contractlog.clients.settings import Security, registry_url
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.terminal_text import escape_line
from contractlog.registry import database
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.registry.storage import bulk_transfer
from contractlog.registry.storage.engines import mask_url
from contractlog.registry.transfer.cli_options import add_database, add_examples, add_source, open_source_option
from contractlog.registry.transfer.database_connections import open_for_export
from contractlog.registry.transfer.progress import TransferProgress
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.rest_source import get_call
from contractlog.registry.transfer.snapshot import RegistrySnapshot
from contractlog.registry.transfer.snapshot_counts import count_contents
from contractlog.registry.transfer.sources import FileSource
from contractlog.registry.transfer.verify import VerificationResult, verify

__all__ = ["verify_import"]

_VERIFY: Final = "contractlog.verify-import/1"
_MAX_SHOWN: Final = 50


def verify_import(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Compare every version, id, lookup, setting and mode of a registry with its source."""
    add_examples(parser, "verify-import")
    add_source(parser)
    add_database(parser, "to verify, in place of a running registry")
    parser.add_argument("--registry", metavar="URL", help="the running registry to verify (else as for other verbs)")
    parser.add_argument("--no-modes", action="store_true", help="do not compare modes (READONLY …)")
    add_format(parser)
    options = parser.parse_args(argv)
    if options.registry and options.database_url:
        raise UsageError("give --database-url or --registry, not both")
    if options.database_url and database.current_revision(options.database_url)[0] is None:
        shown = mask_url(options.database_url)
        raise UsageError(f"{shown} holds no registry")
    report = TransferReport()
    with open_source_option(options) as source:
        snapshot = count_contents(source.read_snapshot(report), report)
    verified = asyncio.run(_verify(options, snapshot))
    if options.database_url and isinstance(source, FileSource):
        _compare_times(options.database_url, snapshot, verified)
    if options.format == "json":
        body = {"compared": dict(verified.compared), "differences": verified.differences}
        print_json({"format": _VERIFY, **body, **report.body()})
    else:
        _print_result(verified)
    return exit_codes.FINDINGS if verified.differences else exit_codes.CLEAN


async def _verify(options: Namespace, snapshot: RegistrySnapshot) -> VerificationResult:
    app = None
    if options.database_url:
        # Calls within this process need no credentials, whatever the environment requires of network clients.
        app = create_app(Settings.from_environment(database_url=options.database_url, users_file="", tls_client_ca=""))
        transport = AsyncTransport(None, app=app, timeout=options.timeout)
    else:
        security = Security.from_environment()
        transport = AsyncTransport(registry_url(options.registry), timeout=options.timeout, security=security)
    try:
        await transport.send(get_call("config"))  # a registry that does not answer is an error, not a difference
        with TransferProgress("comparing", "answers") as told:
            return await verify(transport, snapshot, told, modes=not options.no_modes)
    finally:
        await transport.close()
        if app is not None:
            app.state.close()


def _compare_times(database_url: str, state: RegistrySnapshot, verified: VerificationResult) -> None:
    """Compare creation times of schemas.

    Only files and databases contain them; REST provides only the times of versions.
    """
    with open_for_export(database_url) as snapshot:
        held = {(row.context, row.id): row.created_at for row in bulk_transfer.stream_schemas(snapshot)}
    for key, schema in sorted(state.schemas.items()):
        if schema.created_at is not None and held.get(key, schema.created_at) != schema.created_at:
            told = f"created is {held[key]} in place of {schema.created_at}"
            verified.differences.append(f"id {schema.id} of context {schema.context}: {told}")


def _print_result(verified: VerificationResult) -> None:
    compared = ", ".join(f"{number:,} {what}" for what, number in verified.compared.items())
    print_result(f"compared: {compared or 'nothing'}")
    print_result(f"{len(verified.differences):,} differences" if verified.differences else "no differences")
    for difference in verified.differences[:_MAX_SHOWN]:
        print_result(f"  {escape_line(difference)}")
    if len(verified.differences) > _MAX_SHOWN:
        print_result(f"  … and {len(verified.differences) - _MAX_SHOWN:,} more (--format json has them all)")
