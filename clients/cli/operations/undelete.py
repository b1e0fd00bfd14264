"""``contractlog undelete``: of a version, or of all versions of a subject."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    connect,
    select_context,
)
from contractlog.clients.cli.output import apply_output_options, print_error, print_json, print_message, print_result
from contractlog.clients.cli.registry_lookups import (
    add_version_name,
    fetch_deleted,
    fetch_if_supported,
    list_existing,
    list_live,
    parse_subject_version,
    require_supported,
)
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    ContractlogError,
    Forbidden,
    ModeNotConfigured,
    OperationNotPermitted,
    UsageError,
    VersionNotFound,
)
from contractlog.compatibility.identifiers import qualify_subject
from contractlog.compatibility.mode import IMPORT_MODES, Mode
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["undelete"]

UNDELETE_FORMAT: Final = "contractlog.undelete/1"


def undelete(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Restore soft-deleted versions under their ids and numbers."""
    add_version_name(parser, "restore")
    parser.add_argument("--dry-run", action="store_true", help="report what would be restored, and change nothing")
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    with apply_output_options(options):
        return _run_undelete(options)


def _run_undelete(options: Namespace) -> int:
    name, number = parse_subject_version(options.name)
    subject = qualify_subject(name, select_context(options))
    if number == "latest":
        raise UsageError("the latest version is never deleted: name a version by its number")
    with connect(options) as registry:
        schemas = _list_deleted(registry, subject, number)
        if schemas and not options.dry_run:
            _restore(registry, str(schemas[0].subject or subject), schemas)  # an alias is resolved
    _report_restored(options, subject, schemas)
    return exit_codes.CLEAN


def _list_deleted(registry: Registry, subject: str, number: int | None) -> list[RegisteredSchema]:
    """Return the soft-deleted versions of a subject, or the one with this number if it is soft-deleted.

    Raises:
        SubjectNotFound, VersionNotFound: there is no such version.
        UsageError: the registry lists a version that it does not show.
    """
    numbers = list_existing(registry, subject)
    if number is not None and number not in numbers:
        raise VersionNotFound(version=number)
    live = set(list_live(registry, subject))
    deleted = [each for each in (numbers if number is None else [number]) if each not in live]
    schemas = [fetch_deleted(registry, subject, each) for each in deleted]
    if None in schemas:
        raise UsageError(
            f"this registry does not show soft-deleted versions, so version {deleted[schemas.index(None)]} of "
            f"`{subject}` cannot be restored: register the file of its schema again, as a new version"
        )
    return [schema for schema in schemas if schema is not None]


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
            f"{instead}: see {registry_command('versions --deleted', subject)}"
        )


@contextmanager
def _import_mode(registry: Registry, subject: str) -> Iterator[None]:
    """Set the mode of a subject to IMPORT meanwhile; soft-deleted versions stay, because it is forced."""
    mode = require_supported(registry, lambda: registry.mode(subject), "cannot restore versions: it has no mode IMPORT")
    if mode in IMPORT_MODES:
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
            f"{registry_command('show --raw', f'{subject}:N')} prints it, `contractlog register` registers it"
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
        print_error(f"`{subject}` is still in mode IMPORT; reset it: {registry_command(command, *arguments)}")
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
