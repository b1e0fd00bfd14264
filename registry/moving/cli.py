"""The verbs ``export``, ``import`` and ``verify-import``."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atransport import AsyncTransport
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.broker import bootstrap_servers
from contractlog.clients.cli.options import add_format
from contractlog.clients.cli.output import harmless, result, result_json, say
from contractlog.clients.settings import DEFAULT_TIMEOUT, Security, registry_url
from contractlog.compatibility.errors import UsageError
from contractlog.registry import database
from contractlog.registry.app import create_app
from contractlog.registry.moving.databases import reading, writing
from contractlog.registry.moving.following import follow
from contractlog.registry.moving.importing import bring
from contractlog.registry.moving.lines import written
from contractlog.registry.moving.log_writing import log_of
from contractlog.registry.moving.picture import Picture
from contractlog.registry.moving.progress import Progress
from contractlog.registry.moving.report import Report
from contractlog.registry.moving.sources import LiveSource, Source, counted, opened
from contractlog.registry.moving.stored import pictured
from contractlog.registry.moving.topic import write_topic
from contractlog.registry.moving.verifying import Verified, verify
from contractlog.registry.settings import Settings
from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.transfer import journal_head
from contractlog.serdes.broker import add_broker

__all__ = ["export", "import_", "verify_import"]

_EXPORT: Final = "contractlog.export.report/1"
_IMPORT: Final = "contractlog.import/1"
_VERIFY: Final = "contractlog.verify-import/1"
_SHOWN: Final = 50
_MORE: Final = {
    "export": (
        "contractlog export --registry http://old:8081 --out registry.ndjson",
        "contractlog export --topic _schemas --bootstrap-servers localhost:9092",
    ),
    "import": (
        "contractlog import http://old:8081 --dry-run",
        "contractlog import --topic _schemas --bootstrap-servers localhost:9092 --follow",
    ),
    "verify-import": (
        "contractlog verify-import http://old:8081 --registry http://localhost:8081",
        "contractlog verify-import --topic _schemas --bootstrap-servers localhost:9092",
    ),
}


def export(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write a whole registry to a file, or to a new ``_schemas`` topic."""
    _examples(parser, "export")
    _add_database(parser, "to export; one that is being served may be read meanwhile")
    parser.add_argument(
        "--registry", metavar="URL", help="a live registry of the reference's API, in place of a database"
    )
    parser.add_argument("--out", default="-", metavar="FILE", help="where the lines go (default: standard output)")
    parser.add_argument(
        "--topic", metavar="NAME", help="write a _schemas topic in place of a file; it must be empty or new"
    )
    add_broker(parser)
    parser.add_argument(
        "--replication-factor", type=int, default=-1, metavar="N", help="of a new topic (default: the broker's)"
    )
    _add_timeout(parser)
    add_format(parser)
    options = parser.parse_args(argv)
    report = Report()
    picture, header = _exported(options, report)
    counted(picture, report)
    if options.topic is None:
        _write(options.out, written(picture, header))
    else:
        servers = bootstrap_servers(options.bootstrap_servers)
        records = log_of(picture, report, time.time_ns() // 1_000_000)
        report.done["records"] = write_topic(servers, options.topic, records, replication=options.replication_factor)
    if options.format == "json" and (options.topic is not None or options.out != "-"):
        result_json({"format": _EXPORT, **report.body()})
    else:
        for line in report.lines("written" if options.topic else ""):
            say(harmless(line))
    return exit_codes.CLEAN


def _exported(options: Namespace, report: Report) -> tuple[Picture, dict[str, Any]]:
    header: dict[str, Any] = {
        "tool": f"contractlog {version('contractlog')}",
        "exported_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    if options.registry:
        if options.database_url:
            raise UsageError("give --database-url or --registry, not both")
        return LiveSource(options.registry, options.timeout).picture(report), header
    with reading(_database_url(options)) as snapshot:
        picture = pictured(snapshot)
        return picture, header | {"journal": journal_head(snapshot)}


def _write(out: str, lines: Iterable[str]) -> None:
    if out == "-":
        for line in lines:
            sys.stdout.write(line + "\n")
        return
    path = Path(out)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=".export-", delete=False
        ) as file:
            try:
                file.writelines(line + "\n" for line in lines)
            except BaseException:
                Path(file.name).unlink()
                raise
        Path(file.name).replace(path)
    except OSError as error:
        raise UsageError(f"`{out}` cannot be written: {error.strerror}") from None


def import_(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Bring a whole registry into a database; all of it, or nothing."""
    _examples(parser, "import")
    _add_source(parser)
    _add_database(parser, "to import into")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, tell what would be written")
    parser.add_argument("--follow", action="store_true", help="keep up with a live registry or a topic until Ctrl-C")
    parser.add_argument(
        "--every",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="between two looks of --follow (default: %(default)g)",
    )
    parser.add_argument("--no-modes", action="store_true", help="leave modes (READONLY …) as they are in the target")
    add_format(parser)
    options = parser.parse_args(argv)
    if options.follow and options.dry_run:
        raise UsageError("--follow writes, --dry-run does not; give one of them")
    if options.every <= 0:
        raise UsageError("--every takes seconds above 0")
    report = Report()
    with _source(options) as source, writing(_database_url(options)) as store:
        before = _without_modes(source.picture(report), options)
        counted(before, report)
        with Progress("understanding", "schemas") as told:
            total = len(before.schemas)
            bring(store, before, report, dry_run=options.dry_run, told=lambda done: told(done, total))
        if options.follow and not report.conflicts:
            _follow(source, store, before, report, options)
    _tell(report, options)
    return exit_codes.FINDINGS if report.conflicts else exit_codes.CLEAN


def _follow(source: Source, store: Any, before: Picture, report: Report, options: Namespace) -> None:
    stop = threading.Event()
    kept = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}

    def look() -> Picture | None:
        found = source.look(report)
        return None if found is None else _without_modes(found, options)

    say(f"{len(before.versions):,} versions are here; following, until Ctrl-C")
    try:
        follow(
            store,
            before,
            look,
            report,
            stop,
            every=options.every,
            caught_up=lambda change: say(f"caught up: {len(change.versions):,} versions changed"),
        )
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _without_modes(picture: Picture, options: Namespace) -> Picture:
    if options.no_modes:
        picture.modes = {}
        picture.gone.modes = set()
    return picture


def _tell(report: Report, options: Namespace) -> None:
    if options.format == "json":
        result_json({"format": _IMPORT, "dry_run": options.dry_run, **report.body()})
        return
    for line in report.lines("would change" if options.dry_run else "changed"):
        result(harmless(line))


def verify_import(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Compare every version, id, lookup, setting and mode of a registry with what it was moved from."""
    _examples(parser, "verify-import")
    _add_source(parser)
    _add_database(parser, "to verify, in place of a running registry")
    parser.add_argument("--registry", metavar="URL", help="the running registry to verify (else as for other verbs)")
    parser.add_argument("--no-modes", action="store_true", help="do not compare modes (READONLY …)")
    add_format(parser)
    options = parser.parse_args(argv)
    if options.registry and options.database_url:
        raise UsageError("give --database-url or --registry, not both")
    if options.database_url and database.current(options.database_url)[0] is None:
        shown = parse_url(options.database_url).render_as_string(hide_password=True)
        raise UsageError(f"{shown} holds no registry")
    report = Report()
    with _source(options) as source:
        picture = counted(source.picture(report), report)
    verified = asyncio.run(_verified(options, picture))
    if options.format == "json":
        body = {"compared": dict(verified.compared), "differences": verified.differences}
        result_json({"format": _VERIFY, **body, **report.body()})
    else:
        _tell_verified(verified)
    return exit_codes.FINDINGS if verified.differences else exit_codes.CLEAN


async def _verified(options: Namespace, picture: Picture) -> Verified:
    app = None
    if options.database_url:
        # In this process nobody needs a name, whatever the environment says of those who call over the network.
        app = create_app(Settings.from_environment(database_url=options.database_url, users_file="", tls_client_ca=""))
        transport = AsyncTransport(None, app=app, timeout=options.timeout)
    else:
        security = Security.from_environment()
        transport = AsyncTransport(registry_url(options.registry), timeout=options.timeout, security=security)
    try:
        with Progress("comparing", "answers") as told:
            return await verify(transport, picture, told, modes=not options.no_modes)
    finally:
        await transport.close()
        if app is not None:
            app.state.close()


def _tell_verified(verified: Verified) -> None:
    compared = ", ".join(f"{number:,} {what}" for what, number in verified.compared.items())
    result(f"compared: {compared or 'nothing'}")
    result(f"{len(verified.differences):,} differences" if verified.differences else "no differences")
    for difference in verified.differences[:_SHOWN]:
        result(f"  {harmless(difference)}")
    if len(verified.differences) > _SHOWN:
        result(f"  … and {len(verified.differences) - _SHOWN:,} more (--format json has them all)")


def _examples(parser: ArgumentParser, verb: str) -> None:
    parser.epilog = "\n  ".join((str(parser.epilog), *_MORE[verb]))


def _add_source(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", nargs="?", metavar="FILE|URL", help="a file of `contractlog export`, - for stdin, or a live registry"
    )
    parser.add_argument(
        "--topic", metavar="NAME", help="a _schemas topic of Confluent or Karapace, in place of FILE|URL"
    )
    add_broker(parser)
    _add_timeout(parser)


@contextmanager
def _source(options: Namespace) -> Iterator[Source]:
    servers = bootstrap_servers(options.bootstrap_servers) if options.topic else None
    with opened(options.source, servers=servers, topic=options.topic, timeout=options.timeout) as source:
        yield source


def _add_timeout(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        type=float,
        default=DEFAULT_TIMEOUT,
        metavar="SECONDS",
        help="how long to wait for each answer of a live registry (default: %(default)g)",
    )


def _add_database(parser: ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--database-url",
        metavar="URL",
        help=f"the database {what}: sqlite:///FILE (default: sqlite:///contractlog.db) or postgresql://…",
    )


def _database_url(options: Namespace) -> str:
    return Settings.from_environment(os.environ, database_url=options.database_url).database_url
