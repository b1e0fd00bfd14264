"""Usage of subjects that a registry has recorded: fetches by version, and records of audited topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from contractlog.clients.cli.output import print_message
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    Forbidden,
    MethodNotAllowed,
    NotFound,
    RegistryError,
    UnreadableResponse,
)

__all__ = ["USAGE_DAYS", "RecordedFetch", "RecordedTopic", "RecordedUsage", "RecordedVersion", "fetch_usage"]

USAGE_DAYS: Final = 30  #: fetches are considered
_MAX_SUBJECTS: Final = 500  #: of one request
_UNSUPPORTED: Final = (NotFound, MethodNotAllowed, UnreadableResponse, Forbidden)


@dataclass(frozen=True, slots=True)
class RecordedFetch:
    """The last fetch of a version by a client."""

    client: str
    version: int
    last_day: str  #: such as 2026-11-21


@dataclass(frozen=True, slots=True)
class RecordedVersion:
    """Number of records with one schema id."""

    schema_id: int
    subject: str | None  #: None if the registry does not have the id, or does not name it to the caller
    version: int | None
    records: int
    expected: bool  #: whether the topic's subject name strategy allows the subject


@dataclass(frozen=True, slots=True)
class RecordedTopic:
    """Records of one part of a topic, by its newest audit."""

    topic: str
    part: str
    recorded_at: int  #: milliseconds since 1970, UTC
    records: int
    versions: tuple[RecordedVersion, ...]


@dataclass(frozen=True, slots=True)
class RecordedUsage:
    """Usage of a subject."""

    fetches: tuple[RecordedFetch, ...] | None  #: the latest first; None: the caller may not see them
    client_count: int  #: of all clients, listed or not
    topics: tuple[RecordedTopic, ...]

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> RecordedUsage:
        """Parse a result of the registry.

        Raises:
            UnreadableResponse: it has another form.
        """
        try:
            clients = body.get("clients")
            fetches = None if clients is None else tuple(map(_parse_fetch, clients))
            topics = tuple(map(_parse_topic, body.get("topics") or ()))
            return cls(fetches, int(body.get("client_count") or 0), topics)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableResponse(f"the usage of a subject cannot be read: {error!r}") from None


def fetch_usage(registry: Registry, subjects: Iterable[str], *, verbose: bool = False) -> dict[str, RecordedUsage]:
    """Return the recorded usage of subjects that the registry reports, with one request for many subjects.

    With ``verbose``, a message says why usage is unknown; for a failure of the registry, it is always printed.
    """
    usages: dict[str, RecordedUsage] = {}
    remaining = iter(dict.fromkeys(subjects))
    while batch := list(islice(remaining, _MAX_SUBJECTS)):
        try:
            results = registry.usage(batch, days=USAGE_DAYS)
            for subject, result in zip(batch, results, strict=True):
                if not isinstance(result, RegistryError):
                    usages[subject] = RecordedUsage.from_body(result)
                elif verbose:
                    print_message(f"impact of changes of `{subject}` unknown: {result}")
        except _UNSUPPORTED as error:
            if verbose:
                print_message(f"impact unknown: this registry does not report how schemas are used: {error}")
            return usages
        except RegistryError as error:
            print_message(f"impact unknown: {error}")
            return usages
    return usages


def _parse_fetch(body: Mapping[str, Any]) -> RecordedFetch:
    return RecordedFetch(str(body["client"]), int(body["version"]), str(body["last_day"]))


def _parse_topic(body: Mapping[str, Any]) -> RecordedTopic:
    versions = tuple(map(_parse_version, body["versions"]))
    topic, part = str(body["topic"]), str(body["part"])
    return RecordedTopic(topic, part, int(body["recorded_at"]), int(body["records"]), versions)


def _parse_version(body: Mapping[str, Any]) -> RecordedVersion:
    subject, version = body["subject"], body["version"]
    return RecordedVersion(
        int(body["id"]),
        None if subject is None else str(subject),
        None if version is None else int(version),
        int(body["records"]),
        body["expected"] is not False,
    )
