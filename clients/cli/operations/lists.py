"""``contractlog subjects``, ``versions`` and ``contexts``: lists of what a registry contains."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypeVar

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.operations.lookups import (
    add_limit,
    fetch_if_supported,
    list_live,
    missing_versions_error,
    qualify_context,
    require_registry,
    version_body,
)
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
    print_result,
    print_table,
    registry_command,
)
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import Forbidden, SubjectNotFound, UsageError, VersionNotFound
from contractlog.compatibility.identifiers import Subject, qualify_subject

__all__ = ["contexts", "subjects", "versions"]

SUBJECTS_FORMAT: Final = "contractlog.subjects/1"
VERSIONS_FORMAT: Final = "contractlog.versions/1"
CONTEXTS_FORMAT: Final = "contractlog.contexts/1"
_PAGE: Final = 1_000
_MAX_SUBJECTS: Final = 10_000  #: default of `subjects --limit`
_MAX_VERSIONS: Final = 100  #: default of `versions --limit`; each version is a request

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
    if options.context is None and context and not prefix.startswith(":"):
        options.context = context
    if options.context is not None:
        if prefix.startswith(":"):
            raise UsageError(f"`{prefix}` is qualified with a context: leave out --context")
        prefix = qualify_context(options.context) + prefix
    with connect(options) as registry:
        rows, truncated = _list_subjects(registry, prefix, options)
    if options.format == "plain":
        for row in rows:
            if row["subject"].isprintable():
                print_result(row["subject"])
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


def contexts(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """List the contexts of a registry."""
    add_limit(parser, _MAX_SUBJECTS, "maximum number of contexts")
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_args(argv)
    with apply_output_options(options):
        return _run_contexts(options)


def _run_contexts(options: Namespace) -> int:
    select_context(options)
    with connect(options) as registry:
        names = fetch_if_supported(registry.contexts)
        if names is None:
            require_registry(registry)
    if names is None:
        print_message("this registry has no contexts: they exist since release 7.0 of Confluent Schema Registry")
    names = [name.strip(":") for name in names or ()]  # some registries list `:.eu:`
    listed = names[: options.limit]
    if options.format == "json":
        truncated = len(listed) < len(names)
        print_json({"format": CONTEXTS_FORMAT, "contexts": listed, "truncated": truncated})
        return exit_codes.CLEAN
    for name in listed:
        print_result(name)
    if listed:
        more = len(names) - len(listed)
        command = registry_command("subjects", context=listed[-1])
        print_message(
            f"{count_noun(more, 'more context')} not listed: pass --limit"
            if more
            else f"{count_noun(len(listed), 'context')}; list subjects: {command}"
        )
    return exit_codes.CLEAN
