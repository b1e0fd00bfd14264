"""``contractlog delete`` and ``undelete``: of a version, or of all versions of a subject."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.operations.lookups import (
    fetch_if_supported,
    list_live,
    parse_subject_version,
    require_supported,
)
from contractlog.clients.cli.options import add_format, add_output, add_registry, connect
from contractlog.clients.cli.output import (
    apply_output_options,
    count_noun,
    print_error,
    print_json,
    print_message,
    print_result,
    shell_command,
)
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    ContractlogError,
    Forbidden,
    ModeNotConfigured,
    NotFound,
    OperationNotPermitted,
    ReferenceExists,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    UsageError,
    VersionNotFound,
    VersionNotSoftDeleted,
    VersionSoftDeleted,
)
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["Referrer", "delete", "find_referrers", "undelete"]

DELETE_FORMAT: Final = "contractlog.delete/1"
UNDELETE_FORMAT: Final = "contractlog.undelete/1"
_MAX_EXAMINED: Final = 100  #: versions whose referrers are looked up; the server examines all
_MAX_REFERRERS: Final = 100  #: referrers that are looked up; each is a request
_MAX_LISTED: Final = 20  #: referrers and clients that are listed
_DAYS: Final = 30  #: how far back fetches are listed
_IMPORT_MODES: Final = frozenset({Mode.IMPORT, Mode.FORWARD})


class Referrer(NamedTuple):
    """A version that references one that is to be deleted."""

    version: int  #: the referenced one
    subject: Subject | None  #: None if the server does not tell
    description: str


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
    _add_name(parser, "delete")
    parser.add_argument(
        "--permanent", action="store_true", help="hard-delete what is soft-deleted: it cannot be restored"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation; needed without a terminal")
    parser.add_argument("--dry-run", action="store_true", help="report what would be deleted, and delete nothing")
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run_delete(options)


def _run_delete(options: Namespace) -> int:
    subject, number = parse_subject_version(options.name)
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


def undelete(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Restore soft-deleted versions under their ids and numbers."""
    _add_name(parser, "restore")
    parser.add_argument("--dry-run", action="store_true", help="report what would be restored, and change nothing")
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run_undelete(options)


def _run_undelete(options: Namespace) -> int:
    subject, number = parse_subject_version(options.name)
    if number == "latest":
        raise UsageError("the latest version is never deleted: name a version by its number")
    with connect(options) as registry:
        schemas = _list_deleted(registry, subject, number)
        if schemas and not options.dry_run:
            _restore(registry, str(schemas[0].subject or subject), schemas)  # an alias is resolved
    _report_restored(options, subject, schemas)
    return exit_codes.CLEAN


def _add_name(parser: ArgumentParser, verb: str) -> None:
    parser.add_argument(
        "name", metavar="SUBJECT[:VERSION]", help=f"the version to {verb}, or the subject to {verb} all its versions"
    )


def _plan_deletion(registry: Registry, subject: str, version: int | str | None, *, permanent: bool) -> _Deletion:
    """Return the versions to be deleted with their users.

    Raises:
        SubjectNotFound, VersionNotFound, SubjectSoftDeleted, SubjectNotSoftDeleted, VersionSoftDeleted,
        VersionNotSoftDeleted: they cannot be deleted so.
    """
    existing = registry.versions(subject, deleted=True)
    live = list_live(registry, subject)
    if version is None:
        number, name, versions = None, subject, existing if permanent else live
        if permanent and live:
            raise SubjectNotSoftDeleted(subject=subject, details=[f"first: {shell_command('delete', name)}"])
        if not permanent and not live:
            raise SubjectSoftDeleted(subject=subject, details=_hard_deletion_hint(name))
    else:
        number = max(live, default=0) if version == "latest" else int(version)
        name, versions = f"{subject}:{number}", [number]
        if number not in existing:
            raise VersionNotFound(version=version)
        if permanent and number in live:
            first = f"first: {shell_command('delete', name)}"
            raise VersionNotSoftDeleted(subject=subject, version=number, details=[first])
        if not permanent and number not in live:
            raise VersionSoftDeleted(subject=subject, version=number, details=_hard_deletion_hint(name))
    newest = _fetch_deleted(registry, subject, versions[-1])
    home = (newest and newest.subject) or Subject.parse(subject)
    if home != Subject.parse(subject):
        print_message(f"`{subject}` is an alias of `{home}`, whose versions these are")
    found = find_referrers(registry, subject, versions, deleted=permanent)
    # A subject that is deleted as a whole may have references among its own versions.
    outside = (each for each in found if number is not None or each.subject != home)
    referrers = [(each.version, each.description) for each in islice(outside, _MAX_REFERRERS)]
    fetches = _find_fetches(registry, subject, None if number is None or newest is None else newest.schema_id)
    return _Deletion(subject, number, versions, permanent, referrers, fetches)


def _hard_deletion_hint(name: str) -> list[str]:
    return [f"to hard-delete it: {shell_command('delete --permanent', name)}"]


def find_referrers(registry: Registry, subject: str, versions: list[int], *, deleted: bool) -> Iterator[Referrer]:
    """Yield the versions that reference these; those that are soft-deleted prevent hard deletions, too."""
    for number in versions[-_MAX_EXAMINED:]:
        try:
            ids = fetch_if_supported(lambda number=number: registry.referenced_by(subject, number, deleted=deleted))  # type: ignore[misc]
        except (SubjectNotFound, VersionNotFound):  # some servers have it only of live versions
            ids = None
        if ids is None:
            print_message("this registry does not tell which schemas reference another; it still checks it")
            return
        for schema_id in ids:
            uses = _find_uses(registry, schema_id, subject, deleted=deleted)
            if uses is None:
                yield Referrer(number, None, f"the schema with id {schema_id}")
                continue
            for name, version in uses:
                yield Referrer(number, Subject.parse(name), f"version {version} of `{name}`")


def _find_uses(registry: Registry, schema_id: int, subject: str, *, deleted: bool) -> list[tuple[str, int]] | None:
    """Return the versions with an id, or None if the server does not tell them."""
    context = Subject.parse(subject).context
    scope = subject if context == DEFAULT_CONTEXT else f":{context}:"  # a qualified subject would be a filter
    try:
        return fetch_if_supported(lambda: registry.versions_of_id(schema_id, subject=scope, deleted=deleted)) or None
    except (NotFound, Forbidden):
        return None


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
            f"consumers can still read it by id; restore it: {shell_command('undelete', deletion.name)}; "
            f"hard-delete it: {shell_command('delete --permanent', deletion.name)}"
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


def _list_deleted(registry: Registry, subject: str, number: int | None) -> list[RegisteredSchema]:
    """Return the soft-deleted versions of a subject, or the one with this number if it is soft-deleted.

    Raises:
        SubjectNotFound, VersionNotFound: there is no such version.
        UsageError: the registry lists a version that it does not show.
    """
    numbers = registry.versions(subject, deleted=True)
    if number is not None and number not in numbers:
        raise VersionNotFound(version=number)
    live = set(list_live(registry, subject))
    deleted = [each for each in (numbers if number is None else [number]) if each not in live]
    schemas = [_fetch_deleted(registry, subject, each) for each in deleted]
    if None in schemas:
        raise UsageError(
            f"this registry does not show soft-deleted versions, so version {deleted[schemas.index(None)]} of "
            f"`{subject}` cannot be restored: register the file of its schema again, as a new version"
        )
    return [schema for schema in schemas if schema is not None]


def _fetch_deleted(registry: Registry, subject: str, number: int) -> RegisteredSchema | None:
    """Return an existing version that may be soft-deleted, or None if the server does not show it."""
    try:
        return registry.version(subject, number, deleted=True)
    except (SubjectNotFound, VersionNotFound):
        return None


def _restore(registry: Registry, subject: str, schemas: list[RegisteredSchema]) -> None:
    """Register the versions again under their ids and numbers, in mode IMPORT; then restore the mode.

    Raises:
        OperationNotPermitted, Forbidden: the server does not permit it.
        UsageError: the server registered something else.
    """
    before = set(list_live(registry, subject))
    with _import_mode(registry, subject):
        for schema in schemas:
            registry.register(subject, schema.draft, schema_id=schema.schema_id, version=int(schema.version or 0))
    live = set(list_live(registry, subject))
    missing = [schema.version for schema in schemas if schema.version not in live]
    if missing:
        new = sorted(live - before - {schema.version for schema in schemas})
        instead = f", but registered {', '.join(f'version {number}' for number in new)}" if new else ""
        raise UsageError(
            f"this registry did not restore {', '.join(f'version {number}' for number in missing)} of `{subject}`"
            f"{instead}: see {shell_command('versions --deleted', subject)}"
        )


@contextmanager
def _import_mode(registry: Registry, subject: str) -> Iterator[None]:
    """Set the mode of a subject to IMPORT meanwhile; soft-deleted versions stay, because it is forced."""
    mode = require_supported(registry, lambda: registry.mode(subject), "cannot restore versions: it has no mode IMPORT")
    if mode in _IMPORT_MODES:
        print_message(f"`{subject}` is in mode {mode.value}, and stays in it")
        yield
        return
    if mode is not Mode.READWRITE:
        raise OperationNotPermitted(f"`{subject}` is in mode {mode.value}, in which nothing can be restored")
    try:
        own: Mode | None = registry.mode(subject, inherited=False)
    except ModeNotConfigured:
        own = None
    try:
        registry.set_mode(Mode.IMPORT, subject, force=True)
    except (OperationNotPermitted, Forbidden) as error:
        raise type(error)(
            f"{error}: a version is restored in mode IMPORT, which needs permission to write all of its context and a "
            "registry whose modes can be changed. To register the same schema as a new version, under the same id: "
            f"{shell_command('show --raw', f'{subject}:N')} prints it, `contractlog register` registers it"
        ) from None
    try:
        yield
    finally:
        _reset_mode(registry, subject, own)


def _reset_mode(registry: Registry, subject: str, own: Mode | None) -> None:
    try:
        if own is not None or fetch_if_supported(lambda: registry.delete_mode(subject)) is None:
            registry.set_mode(own or Mode.READWRITE, subject)  # before release 7.0, a mode could not be unset
    except ContractlogError:
        command = "mode unset" if own is None else "mode set"
        arguments = [subject] if own is None else [subject, own.value]
        print_error(f"`{subject}` is still in mode IMPORT; reset it: {shell_command(command, *arguments)}")
        raise


def _report_restored(options: Namespace, subject: str, schemas: list[RegisteredSchema]) -> None:
    if options.format == "json":
        restored = [{"version": schema.version, "schema_id": schema.schema_id} for schema in schemas]
        print_json({"format": UNDELETE_FORMAT, "subject": subject, "versions": restored, "dry_run": options.dry_run})
        return
    for schema in schemas:
        done = "would be restored" if options.dry_run else "restored"
        print_result(f"version {schema.version} of `{subject}` {done}, id {schema.schema_id}")
    if not schemas:
        print_message(f"nothing to restore: `{options.name}` is not deleted")
    elif not options.dry_run:
        print_message("compatibility was not checked: other versions may have been registered in between")
