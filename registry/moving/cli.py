"""Command-line verbs ``export`` and ``import``."""

from __future__ import annotations

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

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.broker import add_brokers, brokers_of
from contractlog.clients.cli.options import add_format
from contractlog.clients.cli.output import harmless, result, result_json, say
from contractlog.clients.settings import Security
from contractlog.compatibility.errors import UsageError
from contractlog.registry.moving.counting import counted
from contractlog.registry.moving.databases import foretelling, reading, writing
from contractlog.registry.moving.following import follow
from contractlog.registry.moving.importing import bring, foreseen
from contractlog.registry.moving.lines import written
from contractlog.registry.moving.log_writing import log_of
from contractlog.registry.moving.options import (
    add_database,
    add_source,
    add_timeout,
    database_url,
    examples,
    seconds,
    source_of,
)
from contractlog.registry.moving.picture import Picture
from contractlog.registry.moving.progress import Progress
from contractlog.registry.moving.reaching import Access, access_of, add_access, unused_access
from contractlog.registry.moving.report import Report
from contractlog.registry.moving.sending import send
from contractlog.registry.moving.sources import LiveSource, Source, is_url
from contractlog.registry.moving.stored import pictured
from contractlog.registry.moving.topic import write_topic
from contractlog.registry.settings import Settings
from contractlog.registry.storage.engines import FileInUse, file_lock, parse_url
from contractlog.registry.storage.transfer import journal_head
from contractlog.registry.storage.values import MAX_ID_GAP

__all__ = ["export", "import_"]

_EXPORT: Final = "contractlog.export.report/1"
_INTO_RUNNING: Final = "import into the running registry by --registry URL in place of --database-url, or stop it first"
_IMPORT: Final = "contractlog.import/1"


def export(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write a whole registry to a file, or to a new ``_schemas`` topic."""
    examples(parser, "export")
    add_database(parser, "to export; one that is being served may be read meanwhile")
    parser.add_argument(
        "--registry", metavar="URL", help="a live registry of the reference's API, in place of a database"
    )
    parser.add_argument("--out", default="-", metavar="FILE", help="where the lines go (default: standard output)")
    parser.add_argument(
        "--topic", metavar="NAME", help="write a _schemas topic in place of a file; it must be empty or new"
    )
    add_brokers(parser)
    add_access(parser)
    parser.add_argument(
        "--replication-factor", type=int, default=-1, metavar="N", help="of a new topic (default: the broker's)"
    )
    add_timeout(parser)
    add_format(parser)
    options = parser.parse_args(argv)
    if options.topic and options.out != "-":
        raise UsageError("give --out or --topic, not both")
    report = Report()
    picture, header = _exported(options, report)
    counted(picture, report)
    if options.topic is None:
        _write(options.out, written(picture, header))
    else:
        records = log_of(picture, report, time.time_ns() // 1_000_000)
        written_to = brokers_of(options)
        report.done["records"] = write_topic(written_to, options.topic, records, replication=options.replication_factor)
    if options.format == "json" and (options.topic is not None or options.out != "-"):
        result_json({"format": _EXPORT, **report.body()})
    else:
        for line in report.lines("written" if options.topic else ""):
            say(harmless(line))
    return exit_codes.CLEAN


def _exported(options: Namespace, report: Report) -> tuple[Picture, dict[str, Any]]:
    header = _header()
    if options.registry:
        if options.database_url:
            raise UsageError("give --database-url or --registry, not both")
        access = access_of(options, options.registry) or Access(Security.from_environment())
        return LiveSource(options.registry, options.timeout, access).picture(report), header
    unused_access(options, "--registry URL")
    with reading(database_url(options)) as snapshot:
        picture = pictured(snapshot)
        return picture, header | {"journal": journal_head(snapshot)}


def _header() -> dict[str, Any]:
    return {
        "tool": f"contractlog {version('contractlog')}",
        "exported_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _write(out: str, lines: Iterable[str]) -> None:
    if out == "-":
        for line in lines:
            sys.stdout.write(line + "\n")
        return
    path = Path(out)
    if path.is_dir():
        raise UsageError(f"`{out}` is a folder; --out takes a file")
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
    """Import a whole registry into a database; everything, or nothing."""
    examples(parser, "import")
    add_source(parser)
    add_database(parser, "to import into")
    parser.add_argument(
        "--registry", metavar="URL", help="a running registry of contractlog to import into, in place of its database"
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing, tell what would be written")
    parser.add_argument("--follow", action="store_true", help="keep up with a live registry or a topic until Ctrl-C")
    parser.add_argument(
        "--every",
        type=seconds,
        default=5.0,
        metavar="SECONDS",
        help="between two looks of --follow (default: %(default)g)",
    )
    parser.add_argument("--no-modes", action="store_true", help="leave modes (READONLY …) as they are in the target")
    parser.add_argument(
        "--allow-id-gap",
        action="store_true",
        help=f"import ids more than {MAX_ID_GAP:,} above the next lower one, too (or CONTRACTLOG_ALLOW_ID_GAP=true)",
    )
    add_format(parser)
    options = parser.parse_args(argv)
    if options.follow and not (options.topic or is_url(options.source or "")):
        raise UsageError("--follow needs a live registry or a topic; a file does not change")
    if options.follow and options.dry_run:
        raise UsageError("--follow writes, --dry-run does not; give one of them")
    if options.registry and options.database_url:
        raise UsageError("give --database-url or --registry, not both")
    if options.registry and options.allow_id_gap:
        raise UsageError(
            "--allow-id-gap is for --database-url; a running registry allows gaps when it is started with "
            "CONTRACTLOG_ALLOW_ID_GAP=true"
        )
    options.allow_id_gap = Settings.from_environment(allow_id_gap=options.allow_id_gap or None).allow_id_gap
    if options.registry and options.follow:
        raise UsageError(
            "--follow writes to a database: give --database-url; a PostgreSQL may be served meanwhile, "
            "a SQLite file is served when following is over"
        )
    report = Report()
    with source_of(options) as source:
        if options.registry:
            _send(source, report, options)
        elif options.dry_run:
            _foresee(source, report, options)
        else:
            _bring(source, report, options)
    _tell(report, options)
    return exit_codes.FINDINGS if report.conflicts else exit_codes.CLEAN


def _send(source: Source, report: Report, options: Namespace) -> None:
    picture = counted(_without_modes(source.picture(report), options), report)
    if report.conflicts:
        return
    send(
        options.registry,
        written(picture, _header()),
        report,
        security=Security.from_environment(),
        timeout=options.timeout,
        dry_run=options.dry_run,
        modes=not options.no_modes,
    )


def _foresee(source: Source, report: Report, options: Namespace) -> None:
    with foretelling(database_url(options)) as snapshot:
        picture = counted(_without_modes(source.picture(report), options), report)
        with Progress("understanding", "schemas") as told:
            foreseen(
                snapshot,
                picture,
                report,
                lambda done: told(done, len(picture.schemas)),
                allow_id_gap=options.allow_id_gap,
            )


def _bring(source: Source, report: Report, options: Namespace) -> None:
    url = database_url(options)
    with _told_where_to_go(), file_lock(parse_url(url)):
        pass  # fails if the file is in use, before the source is read; a missing file is created later
    before = counted(_without_modes(source.picture(report), options), report)
    if report.conflicts:  # a source that contradicts itself is rejected for any target, so none is created
        return
    with _told_where_to_go(), writing(url) as store:
        with Progress("understanding", "schemas") as told:
            bring(
                store,
                before,
                report,
                told=lambda done: told(done, len(before.schemas)),
                allow_id_gap=options.allow_id_gap,
            )
        if options.follow and not report.conflicts:
            _follow(source, store, before, report, options)


@contextmanager
def _told_where_to_go() -> Iterator[None]:
    try:
        yield
    except FileInUse as error:
        raise UsageError(f"{error.file} is in use, by `contractlog serve` perhaps: {_INTO_RUNNING}") from None


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
            allow_id_gap=options.allow_id_gap,
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
