"""Command-line verb ``verify-import``."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Final

from contractlog.clients.atransport import AsyncTransport
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import add_format
from contractlog.clients.cli.output import harmless, result, result_json
from contractlog.clients.settings import Security, registry_url
from contractlog.compatibility.errors import UsageError
from contractlog.registry import database
from contractlog.registry.app import create_app
from contractlog.registry.moving.counting import counted
from contractlog.registry.moving.databases import reading
from contractlog.registry.moving.live import get
from contractlog.registry.moving.options import add_database, add_source, examples, source_of
from contractlog.registry.moving.picture import Picture
from contractlog.registry.moving.progress import Progress
from contractlog.registry.moving.report import Report
from contractlog.registry.moving.sources import FileSource
from contractlog.registry.moving.verifying import Verified, verify
from contractlog.registry.settings import Settings
from contractlog.registry.storage import transfer
from contractlog.registry.storage.engines import shown_url

__all__ = ["verify_import"]

_VERIFY: Final = "contractlog.verify-import/1"
_SHOWN: Final = 50


def verify_import(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Compare every version, id, lookup, setting and mode of a registry with its source."""
    examples(parser, "verify-import")
    add_source(parser)
    add_database(parser, "to verify, in place of a running registry")
    parser.add_argument("--registry", metavar="URL", help="the running registry to verify (else as for other verbs)")
    parser.add_argument("--no-modes", action="store_true", help="do not compare modes (READONLY …)")
    add_format(parser)
    options = parser.parse_args(argv)
    if options.registry and options.database_url:
        raise UsageError("give --database-url or --registry, not both")
    if options.database_url and database.current(options.database_url)[0] is None:
        shown = shown_url(options.database_url)
        raise UsageError(f"{shown} holds no registry")
    report = Report()
    with source_of(options) as source:
        picture = counted(source.picture(report), report)
    verified = asyncio.run(_verified(options, picture))
    if options.database_url and isinstance(source, FileSource):
        _compare_times(options.database_url, picture, verified)
    if options.format == "json":
        body = {"compared": dict(verified.compared), "differences": verified.differences}
        result_json({"format": _VERIFY, **body, **report.body()})
    else:
        _tell_verified(verified)
    return exit_codes.FINDINGS if verified.differences else exit_codes.CLEAN


async def _verified(options: Namespace, picture: Picture) -> Verified:
    app = None
    if options.database_url:
        # Calls within this process need no credentials, whatever the environment requires of network clients.
        app = create_app(Settings.from_environment(database_url=options.database_url, users_file="", tls_client_ca=""))
        transport = AsyncTransport(None, app=app, timeout=options.timeout)
    else:
        security = Security.from_environment()
        transport = AsyncTransport(registry_url(options.registry), timeout=options.timeout, security=security)
    try:
        await transport.send(get("config"))  # a registry that does not answer is an error, not a difference
        with Progress("comparing", "answers") as told:
            return await verify(transport, picture, told, modes=not options.no_modes)
    finally:
        await transport.close()
        if app is not None:
            app.state.close()


def _compare_times(database_url: str, picture: Picture, verified: Verified) -> None:
    """Compare creation times of schemas.

    Only files and databases contain them; REST provides only the times of versions.
    """
    with reading(database_url) as snapshot:
        held = {(row.context, row.id): row.created_at for row in transfer.all_schemas(snapshot)}
    for key, schema in sorted(picture.schemas.items()):
        if schema.created_at is not None and held.get(key, schema.created_at) != schema.created_at:
            told = f"created is {held[key]} in place of {schema.created_at}"
            verified.differences.append(f"id {schema.id} of context {schema.context}: {told}")


def _tell_verified(verified: Verified) -> None:
    compared = ", ".join(f"{number:,} {what}" for what, number in verified.compared.items())
    result(f"compared: {compared or 'nothing'}")
    result(f"{len(verified.differences):,} differences" if verified.differences else "no differences")
    for difference in verified.differences[:_SHOWN]:
        result(f"  {harmless(difference)}")
    if len(verified.differences) > _SHOWN:
        result(f"  … and {len(verified.differences) - _SHOWN:,} more (--format json has them all)")
