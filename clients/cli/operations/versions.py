"""``contractlog versions``: the versions of a subject."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    connect,
    select_context,
)
from contractlog.clients.cli.output import (
    apply_output_options,
    count_noun,
    print_json,
    print_message,
    print_table,
)
from contractlog.clients.cli.registry_lookups import (
    add_limit,
    list_live,
    missing_versions_error,
    version_body,
)
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import SubjectNotFound, VersionNotFound
from contractlog.compatibility.identifiers import qualify_subject

__all__ = ["versions"]

VERSIONS_FORMAT: Final = "contractlog.versions/1"


_MAX_VERSIONS: Final = 100  #: default of `versions --limit`; each version is a request


def versions(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """List the versions of a subject, the oldest first."""
    parser.add_argument("subject", metavar="SUBJECT", help="the subject")
    parser.add_argument("--deleted", action="store_true", help="also soft-deleted versions")
    add_limit(parser, _MAX_VERSIONS, "maximum number of versions, the newest ones")
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run_versions(options)


def _run_versions(options: Namespace) -> int:
    options.subject = qualify_subject(options.subject, select_context(options))
    with connect(options) as registry:
        try:
            numbers = registry.versions(options.subject, deleted=options.deleted)
        except SubjectNotFound as error:
            raise missing_versions_error(registry, options.subject, error) from None
        rows = list(_fetch_versions(registry, options.subject, numbers[-options.limit :], deleted=options.deleted))
    omitted = max(0, len(numbers) - options.limit)
    if options.format == "json":
        print_json({"format": VERSIONS_FORMAT, "subject": options.subject, "versions": rows, "omitted": omitted})
        return exit_codes.CLEAN
    members = ("version", "schema_id", "guid", "type", "state", "registered_at")
    print_table(
        ("VERSION", "ID", "GUID", "TYPE", "STATE", "REGISTERED"), [[row[member] for member in members] for row in rows]
    )
    if rows and all(row["registered_at"] is None for row in rows):
        print_message("this registry does not tell when a version was registered")
    if any(row["schema_id"] is None for row in rows):
        print_message("this registry does not show soft-deleted versions: only their numbers are known")
    if omitted:
        print_message(f"{count_noun(omitted, 'older version')} not listed: pass --limit {len(numbers)}")
    elif rows:
        newest = f"{options.subject}:{rows[-1]['version']}"
        print_message(f"{count_noun(len(rows), 'version')}; look into one: {registry_command('show', newest)}")
    return exit_codes.CLEAN


def _fetch_versions(
    registry: Registry, subject: str, numbers: Iterable[int], *, deleted: bool
) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of versions.

    Of a version that the server lists without showing it, only the number is known.
    """
    live = set(list_live(registry, subject)) if deleted else set()  # before release 8, a version does not tell
    for number in numbers:
        try:
            schema = registry.version(subject, number, deleted=deleted)
        except (SubjectNotFound, VersionNotFound):
            if deleted and number not in live:
                unknown = dict.fromkeys(("schema_id", "guid", "type", "registered_at"))
                yield {"subject": subject, "version": number, "state": "deleted", **unknown}
            continue  # otherwise deleted since the list was made
        yield version_body(replace(schema, deleted=deleted and number not in live), subject)
