"""``contractlog subjects``: the subjects of a registry."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.credential_selection import uses_manifest_registry
from contractlog.clients.cli.options import (
    add_environment,
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
    print_result,
    print_table,
)
from contractlog.clients.cli.registry_lookups import (
    add_limit,
    fetch_if_supported,
    qualify_context,
    version_body,
)
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.registry import Registry
from contractlog.clients.settings import Security
from contractlog.compatibility.errors import Forbidden, UsageError
from contractlog.compatibility.identifiers import Subject

__all__ = ["subjects"]

SUBJECTS_FORMAT: Final = "contractlog.subjects/1"
_PAGE: Final = 1_000
_MAX_SUBJECTS: Final = 10_000  #: default of `subjects --limit`

T = TypeVar("T")


def subjects(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """List the subjects of a registry, or those whose names have a prefix."""
    parser.add_argument("prefix", nargs="?", default="", metavar="PREFIX", help="only subjects that begin with this")
    parser.add_argument("--context", metavar="CONTEXT", help="only subjects of this context, such as .eu")
    parser.add_argument("--deleted", action="store_true", help="also subjects whose versions are all soft-deleted")
    parser.add_argument("--long", action="store_true", help="also the latest version, its id, format and time")
    add_limit(parser, _MAX_SUBJECTS, "maximum number of subjects")
    add_environment(parser)
    add_registry(parser)
    parser.add_argument(
        "--format",
        choices=("text", "json", "plain"),  # `plain` is for completion: names that a shell can read back
        default="text",
        metavar="{text,json}",
        help="format of the output (default: text)",
    )
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run_subjects(options)


def _run_subjects(options: Namespace) -> int:
    prefix = options.prefix
    context = select_context(options)
    is_of_environment = options.context is None and context and not prefix.startswith(":")
    if is_of_environment:
        options.context = context
    if options.context is not None:
        if prefix.startswith(":"):
            raise UsageError(f"`{prefix}` is qualified with a context: leave out --context")
        prefix = qualify_context(options.context) + prefix
    completes = options.format == "plain"  # in any folder, whose manifest may be anybody's
    anonymous = completes and uses_manifest_registry(options)
    with connect(options, Security() if anonymous else None) as registry:
        rows, truncated = _list_subjects(registry, prefix, options)
    if completes:
        for name in (row["subject"] for row in rows):
            typed = Subject.parse(name).name if is_of_environment else name  # commands add the context
            if name.isprintable():
                print_result(typed)
    elif options.format == "json":
        print_json({"format": SUBJECTS_FORMAT, "subjects": rows, "truncated": truncated})
    else:
        _print_subjects(rows, options, truncated=truncated)
    return exit_codes.CLEAN


def _list_subjects(registry: Registry, prefix: str, options: Namespace) -> tuple[list[dict[str, Any]], bool]:
    """Return the JSON objects of subjects, and whether there are more than the limit."""
    try:
        latest = None
        if options.long:
            latest = _list_latest(registry, prefix, deleted=options.deleted, limit=options.limit)
            if latest is not None and latest[0]:
                return latest
        names, truncated = _list_names(registry, prefix, deleted=options.deleted, limit=options.limit)
        if options.long and (names or latest is None):  # some registries have the endpoint, but not its parameters
            print_message("this registry cannot list schemas, so only the names are known")
        live = _list_names(registry, prefix, deleted=False, limit=options.limit)[0] if options.deleted else names
    except Forbidden as error:
        if not error.facts.get("uncoded"):  # not of a proxy
            print_message(
                "a list needs permission to read every subject in it: pass a PREFIX that you may read, "
                "such as `contractlog subjects orders-`"
            )
        raise
    live_names = set(live)
    return [{"subject": name, "state": "live" if name in live_names else "deleted"} for name in names], truncated


def _list_names(registry: Registry, prefix: str, *, deleted: bool, limit: int) -> tuple[list[str], bool]:
    page = min(_PAGE, limit + 1)
    names = registry.each_subject(prefix=prefix or None, deleted=deleted, page=page)
    return _take(limit, (name for name in names if _begins_with(name, prefix)))


def _list_latest(
    registry: Registry, prefix: str, *, deleted: bool, limit: int
) -> tuple[list[dict[str, Any]], bool] | None:
    """Return the latest versions of subjects, or None if the server cannot list schemas."""
    schemas = registry.each_schema(
        prefix=prefix or ":*:", deleted=deleted, latest_only=True, page=min(_PAGE, limit + 1)
    )
    latest = fetch_if_supported(
        lambda: _take(limit, (schema for schema in schemas if _begins_with(str(schema.subject), prefix)))
    )
    if latest is None:
        return None
    latest_schemas, truncated = latest
    return sorted(
        (version_body(schema, None) for schema in latest_schemas), key=lambda body: str(body["subject"])
    ), truncated


def _begins_with(name: str, prefix: str) -> bool:
    """Return whether a subject has the prefix; servers before release 7.0 ignore the one in the request.

    >>> _begins_with("orders", ":.:or"), _begins_with(":.eu:orders", "or"), _begins_with(":.eu:orders", ":*:or")
    (True, False, True)
    """
    subject = Subject.parse(name)
    if prefix.startswith(":*:"):
        return subject.name.startswith(prefix.removeprefix(":*:"))
    return name.startswith(prefix) or f":{subject.context}:{subject.name}".startswith(prefix)


def _take(limit: int, items: Iterable[T]) -> tuple[list[T], bool]:
    """Return the first items, and whether there are more."""
    taken = list(islice(items, limit + 1))
    return taken[:limit], len(taken) > limit


def _print_subjects(rows: list[dict[str, Any]], options: Namespace, *, truncated: bool) -> None:
    if options.long and all("version" in row for row in rows):
        header = ("SUBJECT", "LATEST", "ID", "TYPE", "REGISTERED", "STATE")
        members = ("subject", "version", "schema_id", "type", "registered_at", "state")
        columns = len(header) - (not options.deleted)
        print_table(header[:columns], [[row[member] for member in members[:columns]] for row in rows])
    elif options.deleted:
        print_table(("SUBJECT", "STATE"), [(row["subject"], row["state"]) for row in rows])
    else:
        for row in rows:
            print_result(row["subject"])
    if truncated:
        print_message(f"the first {options.limit:,} subjects; there are more: pass a PREFIX or --limit")
    elif rows:
        command = registry_command("show", rows[0]["subject"])
        print_message(f"{count_noun(len(rows), 'subject')}; look into one: {command}")
    else:
        print_message("no subject matches" if options.prefix or options.context else "the registry has no subjects")
