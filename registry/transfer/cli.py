"""The commands ``export`` and ``import``."""

from __future__ import annotations

import signal
import sys
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.broker import add_broker_options, require_brokers
from contractlog.clients.cli.options import add_format
from contractlog.clients.cli.output import print_json, print_message, print_result
from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.clients.settings import Security
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.registry.settings import Settings
from contractlog.registry.storage.change_log import read_head
from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.sqlite_lock import FileInUse, lock_sqlite_file
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import MAX_ID_GAP
from contractlog.registry.transfer.cli_options import (
    TransferSource,
    add_access_options,
    add_database,
    add_examples,
    add_source,
    add_timeout,
    database_url,
    is_url,
    open_source,
    parse_seconds,
    read_access,
    reject_unused_access,
)
from contractlog.registry.transfer.database_access import (
    open_for_dry_run,
    open_for_export,
    open_for_import,
    read_database,
)
from contractlog.registry.transfer.file_format import describe_head, format_lines
from contractlog.registry.transfer.importer import follow, import_contents, plan_import
from contractlog.registry.transfer.kept_contents import describe_kept_contents
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.rest_source import RestSource, SourceAccess
from contractlog.registry.transfer.schemas_topic import write_topic
from contractlog.registry.transfer.topic_records import build_records
from contractlog.registry.transfer.upload import IMPORT_SECONDS, upload_export

__all__ = ["export", "import_"]

_EXPORT: Final = "contractlog.export.report/1"
_RUNNING_HINT: Final = "import into the running registry by --registry URL instead of --database-url, or stop it first"


def export(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Write a whole registry to a file, or to a new ``_schemas`` topic."""
    add_examples(parser, "export")
    add_database(parser, "to export, even while it is being served")
    parser.add_argument(
        "--registry",
        metavar="URL",
        help="a live registry with Confluent Schema Registry's API, instead of a database",
    )
    parser.add_argument("--out", default="-", metavar="FILE", help="the file to write (default: standard output)")
    parser.add_argument("--topic", metavar="NAME", help="write to a new or empty _schemas topic instead of a file")
    add_broker_options(parser)
    add_access_options(parser)
    parser.add_argument(
        "--replication-factor",
        type=int,
        default=-1,
        metavar="N",
        help="replication factor of a new topic (default: the broker's)",
    )
    add_timeout(parser)
    add_format(parser)
    options = parser.parse_args(argv)
    if options.topic and options.out != "-":
        raise UsageError("pass --out or --topic, not both")
    report = TransferReport()
    state, header = _read_source(options, report)
    report.count_contents(state)
    if options.topic is None:
        _write_file(options.out, format_lines(state, header))
    else:
        records = build_records(state, report, time.time_ns() // 1_000_000)
        written_to = require_brokers(options)
        report.done["records"] = write_topic(written_to, options.topic, records, replication=options.replication_factor)
    if options.format == "json" and (options.topic is not None or options.out != "-"):
        print_json({"format": _EXPORT, **report.body()})
    else:
        for line in report.lines("written" if options.topic else ""):
            print_message(escape_line(line))
    return exit_codes.CLEAN


def _read_source(options: Namespace, report: TransferReport) -> tuple[RegistryContents, dict[str, Any]]:
    header = _header()
    if options.registry:
        if options.database_url:
            raise UsageError("pass --database-url or --registry, not both")
        access = read_access(options, options.registry) or SourceAccess(Security.from_environment())
        state = RestSource(options.registry, options.timeout, access).read_contents(report)
        return state, header | describe_head(state.change_log_head)
    reject_unused_access(options, "--registry URL")
    with open_for_export(database_url(options)) as snapshot:
        return read_database(snapshot), header | describe_head(read_head(snapshot))


def _header() -> dict[str, Any]:
    return {
        "tool": f"contractlog {version('contractlog')}",
        "exported_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _write_file(out: str, lines: Iterable[str]) -> None:
    if out == "-":
        for line in lines:
            sys.stdout.write(line + "\n")
        return
    path = Path(out)
    if path.is_dir():
        raise UsageError(f"`{out}` is a folder; --out takes a file")
    try:
        with open_atomically(path, 0o600) as file:
            file.writelines(line.encode() + b"\n" for line in lines)
    except OSError as error:
        raise UsageError(f"`{out}` cannot be written: {error.strerror}") from None


def import_(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Import a whole registry into a database; everything, or nothing."""
    add_examples(parser, "import")
    add_source(parser, f"; an import by --registry takes at most {IMPORT_SECONDS / 60:g} minutes")
    add_database(parser, "to import into")
    parser.add_argument(
        "--registry", metavar="URL", help="a running contractlog registry to import into, instead of a database"
    )
    parser.add_argument("--dry-run", action="store_true", help="report what would be written, and write nothing")
    parser.add_argument(
        "--follow",
        action="store_true",
        help="continue to copy the changes of a live registry or a topic until Ctrl-C",
    )
    parser.add_argument(
        "--every",
        type=parse_seconds,
        default=5.0,
        metavar="SECONDS",
        help="interval of --follow (default: %(default)g)",
    )
    parser.add_argument("--no-modes", action="store_true", help="do not import modes (READONLY …)")
    parser.add_argument(
        "--allow-id-gap",
        action="store_true",
        help=f"also import ids more than {MAX_ID_GAP:,} above the next lower one (or CONTRACTLOG_ALLOW_ID_GAP=true)",
    )
    add_format(parser)
    options = parser.parse_args(argv)
    if options.follow and not (options.topic or is_url(options.source or "")):
        raise UsageError("--follow needs a live registry or a topic; a file does not change")
    if options.follow and options.dry_run:
        raise UsageError("--follow writes, --dry-run does not; use one of them")
    if options.registry and options.database_url:
        raise UsageError("pass --database-url or --registry, not both")
    if options.registry and options.allow_id_gap:
        raise UsageError(
            "--allow-id-gap is for --database-url; a running registry allows gaps when it is started with "
            "CONTRACTLOG_ALLOW_ID_GAP=true"
        )
    options.allow_id_gap = Settings.from_environment(allow_id_gap=options.allow_id_gap or None).allow_id_gap
    if options.registry and options.follow:
        raise UsageError(
            "--follow writes to a database: pass --database-url; a PostgreSQL database can be served at the same time, "
            "a SQLite file only after the import"
        )
    report = TransferReport()
    with open_source(options) as source:
        if options.registry:
            _import_into_registry(source, report, options)
        elif options.dry_run:
            _plan_database_import(source, report, options)
        else:
            _import_into_database(source, report, options)
    _print_report(report, options)
    return exit_codes.FINDINGS if report.conflicts else exit_codes.CLEAN


def _import_into_registry(source: TransferSource, report: TransferReport, options: Namespace) -> None:
    state = _read_state(source, report, options)
    if report.conflicts:
        return
    upload_export(
        options.registry,
        format_lines(state, _header() | describe_head(state.change_log_head)),
        report,
        security=Security.from_environment(),
        timeout=options.timeout,
        dry_run=options.dry_run,
        modes=not options.no_modes,
    )


def _plan_database_import(source: TransferSource, report: TransferReport, options: Namespace) -> None:
    with open_for_dry_run(database_url(options)) as snapshot:
        state = _read_state(source, report, options)
        with ProgressLine("parsing", "schemas", sys.stderr, logged=False, total=len(state.schemas)) as progress:
            plan_import(snapshot, state, report, progress, allow_id_gap=options.allow_id_gap)


def _import_into_database(source: TransferSource, report: TransferReport, options: Namespace) -> None:
    url = database_url(options)
    with _suggest_running_import(), lock_sqlite_file(parse_url(url)):
        pass  # fails if the file is in use, before the source is read; a missing file is created later
    before = _read_state(source, report, options)
    if report.conflicts:  # a source that contradicts itself is rejected for any target, so none is created
        return
    with _suggest_running_import(), open_for_import(url) as store:
        with ProgressLine("parsing", "schemas", sys.stderr, logged=False, total=len(before.schemas)) as progress:
            import_contents(store, before, report, report_progress=progress, allow_id_gap=options.allow_id_gap)
        if options.follow and not report.conflicts:
            _warn_of_kept_contents(store, before, options)
            _follow_source(source, store, before, report, options)


def _warn_of_kept_contents(store: Store, source: RegistryContents, options: Namespace) -> None:
    """Warn of contents that the source may have deleted while no import followed it: they are kept."""
    with store.open_snapshot() as snapshot:
        kept = describe_kept_contents(source, _without_modes(read_database(snapshot), options))
    if kept:
        print_message(
            f"warning: the database has contents that the source does not have: {'; '.join(kept)}. The source deleted "
            "them while no import followed it, or they were written here; they are kept. For an exact copy, import "
            "into an empty database"
        )


@contextmanager
def _suggest_running_import() -> Iterator[None]:
    try:
        yield
    except FileInUse as error:
        raise UsageError(f"{error.file} is in use, perhaps by `contractlog serve`: {_RUNNING_HINT}") from None


def _follow_source(
    source: TransferSource, store: Store, before: RegistryContents, report: TransferReport, options: Namespace
) -> None:
    stop = threading.Event()
    previous_handlers = {
        number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)
    }

    def poll_source() -> RegistryContents | None:
        changed = source.poll(report)
        return None if changed is None else _without_modes(changed, options)

    print_message(f"{len(before.versions):,} versions are here; following, until Ctrl-C")
    try:
        follow(
            store,
            before,
            poll_source,
            report,
            stop,
            every=options.every,
            caught_up=lambda change: print_message(f"caught up: {len(change.versions):,} versions changed"),
            allow_id_gap=options.allow_id_gap,
        )
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def _read_state(source: TransferSource, report: TransferReport, options: Namespace) -> RegistryContents:
    return report.count_contents(_without_modes(source.read_contents(report), options))


def _without_modes(state: RegistryContents, options: Namespace) -> RegistryContents:
    if options.no_modes:
        state.modes = {}
        state.deletions.modes = set()
    return state


def _print_report(report: TransferReport, options: Namespace) -> None:
    if options.format == "json":
        print_json(report.import_body(dry_run=options.dry_run))
        return
    for line in report.lines("would change" if options.dry_run else "changed"):
        print_result(escape_line(line))
