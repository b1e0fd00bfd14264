"""Lookups that commands share: versions by name, endpoints that a server may lack."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

from contractlog.clients.calls import VersionLike
from contractlog.clients.cli.options import parse_version_name
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.cli.verb_parser import suggest_name
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    ContractlogError,
    MethodNotAllowed,
    NotFound,
    SubjectNotFound,
    UnreadableResponse,
    UsageError,
    VersionNotFound,
)
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.time_text import format_time

__all__ = [
    "absent_subject_error",
    "add_limit",
    "add_version_name",
    "fetch_deleted",
    "fetch_if_supported",
    "list_existing",
    "list_live",
    "missing_versions_error",
    "parse_subject_version",
    "qualify_context",
    "require_registry",
    "require_supported",
    "state_of",
    "version_body",
]

T = TypeVar("T")
_MAX_LIMIT: Final = 1_000_000
_MAX_COMPARED: Final = 10_000  #: subjects that a misspelled one is compared with


def add_limit(parser: ArgumentParser, default: int, items: str) -> None:
    """Add ``--limit``."""
    parser.add_argument(
        "--limit", type=_parse_limit, default=default, metavar="N", help=f"{items} (default: %(default)s)"
    )


def parse_subject_version(text: str) -> tuple[str, VersionLike | None]:
    """Parse SUBJECT or SUBJECT:VERSION; a subject that ends like a version is followed by one.

    >>> parse_subject_version("orders-value:3"), parse_subject_version(":.eu:3")
    (('orders-value', 3), (':.eu:3', None))
    """
    name = parse_version_name(text)
    if name is None or (text.startswith(":.") and text.count(":") == 2):  # noqa: PLR2004 - `:.context:name`
        return text, None
    return name


def qualify_context(context: str) -> str:
    """Return the scope of a context given with or without its dot.

    >>> qualify_context("eu"), qualify_context(".")
    (':.eu:', ':.:')

    Raises:
        UsageError: it cannot be a context.
    """
    if ":" in context or not context:
        raise UsageError(f"`{context}` is not a context: pass a name such as `.eu`, or `.` for the default context")
    return f":{context}:" if context.startswith(".") else f":.{context}:"


def fetch_if_supported(operation: Callable[[], T]) -> T | None:
    """Return the result of an operation, or None if the server does not have its endpoint."""
    try:
        return operation()
    except NotFound as error:
        if type(error) is not NotFound:  # the endpoint exists, but the resource does not
            raise
    except (MethodNotAllowed, UnreadableResponse):
        pass
    return None


def require_supported(registry: Registry, operation: Callable[[], T], lack: str) -> T:
    """Return the result of an operation.

    Raises:
        UsageError: the registry does not have its endpoint; ``lack`` says what it cannot do or has not.
        UnreadableResponse: the server is no registry.
    """
    result = fetch_if_supported(operation)
    if result is None:
        require_registry(registry)
        raise UsageError(f"this registry {lack}")
    return result


def require_registry(registry: Registry) -> None:
    """Make sure that the server is a registry.

    Raises:
        UnreadableResponse, NotFound: it is none, or the URL is that of something else.
    """
    try:
        registry.ping()
    except (NotFound, UnreadableResponse):  # at the root, some registries have a page for people, or nothing
        if fetch_if_supported(registry.types) is None:
            raise


def list_existing(registry: Registry, subject: str) -> list[int]:
    """Return the numbers of all versions of a subject, soft-deleted ones included.

    Raises:
        SubjectNotFound: it has none; the error names the nearest subject.
    """
    try:
        return registry.versions(subject, deleted=True)
    except SubjectNotFound as error:
        raise absent_subject_error(registry, subject, error) from None


def list_live(registry: Registry, subject: str) -> list[int]:
    """Return the numbers of the live versions of a subject, if it has any."""
    try:
        return registry.versions(subject)
    except SubjectNotFound:
        return []


def absent_subject_error(registry: Registry, subject: str, error: SubjectNotFound) -> SubjectNotFound:
    """Return the error for a subject that does not exist, with the nearest one or a way out."""
    names: list[str] = []
    with suppress(ContractlogError):  # such as a missing permission: the error is about something else
        names = registry.subjects(limit=_MAX_COMPARED)
    nearest = suggest_name(subject, names).removeprefix("; ")
    error.facts["details"] = [nearest or f"to list subjects: {registry_command('subjects')}"]
    return error


def missing_versions_error(registry: Registry, subject: str, error: SubjectNotFound) -> SubjectNotFound:
    """Return the error for a subject without live versions; it names those that are soft-deleted."""
    try:
        number = len(list_existing(registry, subject))
    except SubjectNotFound as absent:
        return absent
    every = "its only version is" if number == 1 else f"all its {number:,} versions are"
    command = registry_command("versions --deleted", subject)
    return SubjectNotFound(f"{str(error).rstrip('.')}: {every} soft-deleted; list them: {command}", subject=subject)


def version_body(schema: RegisteredSchema, subject: str | None) -> dict[str, Any]:
    """Return the JSON object of a version, without its text."""
    return {
        "subject": str(schema.subject) if schema.subject is not None else subject,
        "version": schema.version,
        "schema_id": schema.schema_id,
        "guid": schema.guid,
        "type": schema.type.value,
        "state": state_of(schema),
        "registered_at": format_time(schema.timestamp),
    }


def state_of(schema: RegisteredSchema) -> str:
    """Return ``live`` or ``deleted``."""
    return "deleted" if schema.deleted else "live"


def _parse_limit(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _MAX_LIMIT:
        return int(text)
    raise ArgumentTypeError(f"`{text}` is not a number from 1 to {_MAX_LIMIT:,}")


def add_version_name(parser: ArgumentParser, verb: str) -> None:
    """Add the subject or version to ``verb``."""
    parser.add_argument(
        "name", metavar="SUBJECT[:VERSION]", help=f"the version to {verb}, or the subject to {verb} all its versions"
    )


def fetch_deleted(registry: Registry, subject: str, number: int) -> RegisteredSchema | None:
    """Return an existing version that may be soft-deleted, or None if the server does not show it."""
    try:
        return registry.version(subject, number, deleted=True)
    except (SubjectNotFound, VersionNotFound):
        return None
