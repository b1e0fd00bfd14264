"""Registered versions that reference others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from contractlog.clients.cli.output import print_message
from contractlog.clients.cli.registry_lookups import fetch_if_supported
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import Forbidden, NotFound, SubjectNotFound, VersionNotFound
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject

__all__ = ["Referrer", "find_referrers"]

_MAX_EXAMINED: Final = 100  #: versions whose referrers are looked up; the server examines all


class Referrer(NamedTuple):
    """A version that references one that is to be deleted."""

    version: int  #: the referenced one
    subject: Subject | None  #: None if the server does not tell
    description: str


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
