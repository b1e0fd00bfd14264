"""``contractlog delete``: of a version, or of all versions of a subject."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.operations.referrers import find_referrers
from contractlog.clients.cli.options import (
    add_break_glass,
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
    print_error,
    print_json,
    print_message,
    print_result,
)
from contractlog.clients.cli.registry_lookups import (
    add_version_name,
    fetch_deleted,
    fetch_if_supported,
    list_existing,
    list_live,
    parse_subject_version,
)
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    Forbidden,
    NotFound,
    ReferenceExists,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    UsageError,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from contractlog.compatibility.identifiers import Subject, qualify_subject

__all__ = ["delete"]

DELETE_FORMAT: Final = "contractlog.delete/1"
_MAX_REFERRERS: Final = 100  #: referrers that are looked up; each is a request
_MAX_LISTED: Final = 20  #: referrers and clients that are listed
_DAYS: Final = 30  #: how far back fetches are listed


@dataclass(frozen=True, slots=True)
class _Deletion:
    """Versions to be deleted, and who uses them."""

    subject: str
    number: int | None  #: None: all versions of the subject
    versions: list[int]
    permanent: bool
    referrers: list[tuple[int, str]]  #: (version, description of the referring version)
    fetches: list[dict[str, Any]] | None  #: None if the server does not tell them

    @property
    def description(self) -> str:
        """The versions, for messages."""
        if self.number is not None:
            return f"version {self.number} of `{self.subject}`"
        return f"`{self.subject}` ({count_noun(len(self.versions), 'version')})"

    @property
    def name(self) -> str:
        """The argument that names the versions."""
        return self.subject if self.number is None else f"{self.subject}:{self.number}"


def delete(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Delete a subject or a version; exit code 1 if it is referenced, or not confirmed."""
    add_version_name(parser, "delete")
    parser.add_argument(
        "--permanent", action="store_true", help="hard-delete what is soft-deleted: it cannot be restored"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation; needed without a terminal")
    parser.add_argument("--dry-run", action="store_true", help="report what would be deleted, and delete nothing")
    add_environment(parser)
    add_break_glass(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run_delete(options)


def _run_delete(options: Namespace) -> int:
    name, number = parse_subject_version(options.name)
    subject = qualify_subject(name, select_context(options))
    with connect(options) as registry:
        deletion = _plan_deletion(registry, subject, number, permanent=options.permanent)
        _print_users(deletion)
        if deletion.referrers:
            if options.format == "json":
                print_json(_json_body(options, deletion, []))
            raise ReferenceExists(subject=deletion.subject, version=deletion.referrers[0][0])
        if not (options.dry_run or options.yes or _confirm(deletion)):
            if options.format == "json":
                print_json(_json_body(options, deletion, []))
            print_message("nothing was deleted")
            return exit_codes.FINDINGS
        deleted = deletion.versions if options.dry_run else _delete(registry, deletion)
    _report_deletion(options, deletion, deleted)
    return exit_codes.CLEAN


def _plan_deletion(registry: Registry, subject: str, version: int | str | None, *, permanent: bool) -> _Deletion:
    """Return the versions to be deleted with their users.

    Raises:
        SubjectNotFound, VersionNotFound, SubjectSoftDeleted, SubjectNotSoftDeleted, VersionSoftDeleted,
        VersionNotSoftDeleted: they cannot be deleted so.
    """
    existing = list_existing(registry, subject)
    live = list_live(registry, subject)
    if version is None:
        number, name, versions = None, subject, existing if permanent else live
        if permanent and live:
            raise SubjectNotSoftDeleted(subject=subject, details=[f"first: {registry_command('delete', name)}"])
        if not permanent and not live:
            raise SubjectSoftDeleted(subject=subject, details=_hard_deletion_hint(name))
    else:
        number = max(live, default=0) if version == "latest" else int(version)
        name, versions = f"{subject}:{number}", [number]
        if number not in existing:
            raise VersionNotFound(version=version)
        if permanent and number in live:
            first = f"first: {registry_command('delete', name)}"
            raise VersionNotSoftDeleted(subject=subject, version=number, details=[first])
        if not permanent and number not in live:
            raise VersionSoftDeleted(subject=subject, version=number, details=_hard_deletion_hint(name))
    newest = fetch_deleted(registry, subject, versions[-1])
    home = (newest and newest.subject) or Subject.parse(subject)
    if home != Subject.parse(subject):
        print_message(f"`{subject}` is an alias of `{home}`, whose versions these are")
    referencing = find_referrers(registry, subject, versions, deleted=permanent)
    # A subject that is deleted as a whole may have references among its own versions.
    outside = (each for each in referencing if number is not None or each.subject != home)
    referrers = [(each.version, each.description) for each in islice(outside, _MAX_REFERRERS)]
    fetches = _find_fetches(registry, subject, None if number is None or newest is None else newest.schema_id)
    return _Deletion(subject, number, versions, permanent, referrers, fetches)


def _hard_deletion_hint(name: str) -> list[str]:
    return [f"to hard-delete it: {registry_command('delete --permanent', name)}"]


def _find_fetches(registry: Registry, subject: str, schema_id: int | None) -> list[dict[str, Any]] | None:
    """Return the clients that fetched the schemas lately, or None if the server does not tell."""
    try:
        rows = fetch_if_supported(lambda: registry.fetches(schema_id, subject=subject, days=_DAYS))
    except (Forbidden, NotFound):
        return None
    if rows is None:
        return None
    clients: dict[str, dict[str, Any]] = {}
    for row in rows:
        name, count, day = str(row.get("client")), row.get("count"), str(row.get("day"))
        client = clients.setdefault(name, {"client": name, "count": 0, "last_day": day})
        client["count"] += count if isinstance(count, int) else 0
        client["last_day"] = max(client["last_day"], day)
    return sorted(clients.values(), key=lambda client: client["last_day"], reverse=True)


def _print_users(deletion: _Deletion) -> None:
    for number, description in deletion.referrers[:_MAX_LISTED]:
        print_error(f"version {number} of `{deletion.subject}` is referenced by {description}")
    if len(deletion.referrers) > _MAX_LISTED:
        more = count_noun(len(deletion.referrers) - _MAX_LISTED, "more version")
        print_error(f"… and by {'at least ' if len(deletion.referrers) == _MAX_REFERRERS else ''}{more}")
    if deletion.fetches is None:
        print_message("whether clients still fetch it is not known: this registry does not tell you")
        return
    for client in deletion.fetches[:_MAX_LISTED]:
        count = f"{client['count']:,}" + (" times" if client["count"] != 1 else " time")
        print_message(f"`{client['client']}` fetched it {count} in {_DAYS} days, last on {client['last_day']}")
    if len(deletion.fetches) > _MAX_LISTED:
        print_message(f"… and {count_noun(len(deletion.fetches) - _MAX_LISTED, 'more client')}")
    if not deletion.fetches:
        print_message(f"no client fetched it by id in the last {_DAYS} days")


def _confirm(deletion: _Deletion) -> bool:
    """Ask for confirmation on a terminal, and return whether it was given.

    Raises:
        UsageError: there is no terminal.
    """
    if not sys.stdin.isatty():
        raise UsageError(f"nothing was deleted: pass --yes to delete {deletion.description} without a terminal")
    action = "hard-delete" if deletion.permanent else "soft-delete"
    print_error(f"{action} {deletion.description}? [y/N]")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _delete(registry: Registry, deletion: _Deletion) -> list[int]:
    if deletion.number is None:
        return registry.delete_subject(deletion.subject, permanent=deletion.permanent)
    return [registry.delete_version(deletion.subject, deletion.number, permanent=deletion.permanent)]


def _report_deletion(options: Namespace, deletion: _Deletion, deleted: list[int]) -> None:
    if options.format == "json":
        print_json(_json_body(options, deletion, deleted))
        return
    action = "hard-delete" if deletion.permanent else "soft-delete"
    print_result(f"{'would ' + action if options.dry_run else action + 'd'} {deletion.description}")
    if not deletion.permanent and not options.dry_run:
        print_message(
            f"consumers can still read it by id; restore it: {registry_command('undelete', deletion.name)}; "
            f"hard-delete it: {registry_command('delete --permanent', deletion.name)}"
        )


def _json_body(options: Namespace, deletion: _Deletion, deleted: list[int]) -> dict[str, Any]:
    return {
        "format": DELETE_FORMAT,
        "subject": deletion.subject,
        "versions": deleted,
        "permanent": deletion.permanent,
        "dry_run": options.dry_run,
        "referenced_by": [{"version": number, "by": description} for number, description in deletion.referrers],
        "fetched_by": deletion.fetches,
    }
