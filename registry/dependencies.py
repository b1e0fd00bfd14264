"""FastAPI dependencies of routes: path and query values as our own types, and the services."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from contractlog.compatibility.errors import InvalidVersion
from contractlog.compatibility.names import MAX_VERSION, Subject
from contractlog.registry.bodies.profiles import Profile
from contractlog.registry.cache import ByteCache
from contractlog.registry.own import Own
from contractlog.registry.paths import decode, subject_of
from contractlog.registry.remembered import Remembered
from contractlog.registry.services.associations import Associations
from contractlog.registry.services.compatibility import Compatibility
from contractlog.registry.services.conformance import Conformance
from contractlog.registry.services.contexts import Contexts
from contractlog.registry.services.health import Health
from contractlog.registry.services.ids import Ids
from contractlog.registry.services.levels import Levels
from contractlog.registry.services.lookup import Lookup
from contractlog.registry.services.registration import Registration
from contractlog.registry.services.retirement import Retirement
from contractlog.registry.services.threads import Threads
from contractlog.registry.settings import Settings
from contractlog.registry.storage.protocol import Store
from contractlog.registry.telemetry.state import Telemetry

__all__ = [
    "AssociationsDependency",
    "CacheDependency",
    "CompatibilityDependency",
    "ConformanceDependency",
    "ContextsDependency",
    "Flag",
    "GuidPath",
    "HealthDependency",
    "IdsDependency",
    "LevelsDependency",
    "Limit",
    "LookupDependency",
    "Offset",
    "ProfileDependency",
    "RegistrationDependency",
    "RetirementDependency",
    "SchemaIdPath",
    "Services",
    "SettingsDependency",
    "SubjectPath",
    "SubjectQuery",
    "TelemetryDependency",
    "TextPath",
    "ThreadsDependency",
    "VersionPath",
    "page",
]

T = TypeVar("T")
_DIGITS: Final = 10
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Services:
    """All services that routes call."""

    settings: Settings
    store: Store
    threads: Threads
    cache: ByteCache
    remembered: Remembered | None  #: cached responses by version; None if other processes can write to the database
    registration: Registration
    compatibility: Compatibility
    lookup: Lookup
    ids: Ids
    contexts: Contexts
    retirement: Retirement
    levels: Levels
    conformance: Conformance
    associations: Associations
    own: Own
    health: Health
    telemetry: Telemetry

    def drain(self) -> None:
        """Announce the shutdown and end long polls; call it on the event loop."""
        self.telemetry.drain()
        self.own.release()

    def close(self) -> None:
        """Stop the threads and close the store."""
        self.own.close()
        self.health.close()
        self.threads.close()
        self.store.close()

    @property
    def profile(self) -> Profile:
        """The release whose response format is used."""
        return self.settings.response_profile


def _service(name: str) -> Any:
    async def give(request: Request) -> Any:
        return getattr(request.app.state.services, name)

    return Depends(give)


SettingsDependency = Annotated[Settings, _service("settings")]
ThreadsDependency = Annotated[Threads, _service("threads")]
ProfileDependency = Annotated[Profile, _service("profile")]
CacheDependency = Annotated[ByteCache, _service("cache")]
RegistrationDependency = Annotated[Registration, _service("registration")]
CompatibilityDependency = Annotated[Compatibility, _service("compatibility")]
LookupDependency = Annotated[Lookup, _service("lookup")]
HealthDependency = Annotated[Health, _service("health")]
IdsDependency = Annotated[Ids, _service("ids")]
ContextsDependency = Annotated[Contexts, _service("contexts")]
RetirementDependency = Annotated[Retirement, _service("retirement")]
LevelsDependency = Annotated[Levels, _service("levels")]
ConformanceDependency = Annotated[Conformance, _service("conformance")]
AssociationsDependency = Annotated[Associations, _service("associations")]
TelemetryDependency = Annotated[Telemetry, _service("telemetry")]


_TEXT = WithJsonSchema({"type": "string"})
TextPath = Annotated[str, Path(), AfterValidator(decode), _TEXT]
GuidPath = TextPath
Flag = Annotated[bool, Query(), BeforeValidator(lambda value: str(value).lower() == "true")]


def _integer(text: object) -> int:
    """Parse digits with an optional sign.

    Other spellings that Python accepts as a number are rejected: ``1_0``, ``1.0``, spaces.

    Raises:
        ValueError: it is something else, or too long.
    """
    if not _INTEGER.fullmatch(str(text)):
        raise ValueError(text)
    return int(str(text))


def _schema_id(segment: object) -> int:
    """Parse a schema id.

    Raises:
        ValueError: it is not a 32-bit integer, so no schema can have this address.
    """
    number = _integer(decode(str(segment)))
    if not -MAX_VERSION - 1 <= number <= MAX_VERSION:
        raise ValueError(segment)
    return number


SchemaIdPath = Annotated[int, Path(), BeforeValidator(_schema_id)]
Offset = Annotated[int, Query(), BeforeValidator(lambda value: 0 if value == "" else _integer(value))]
Limit = Annotated[int, Query(), BeforeValidator(lambda value: -1 if value == "" else _integer(value))]


async def _subject(subject: TextPath) -> Subject:
    return subject_of(subject)


async def _subject_asked_for(
    subject: Annotated[str, Query(description="A subject; `:.eu:name` in another context than the default one.")] = "",
) -> Subject | None:
    return subject_of(subject) if subject else None


async def _version(version: TextPath) -> int | None:
    """Parse ``{version}``: 1 to 2^31 - 1; ``latest`` and -1 give None, for the latest live version."""
    if version.lower() == "latest" or version == "-1":
        return None
    number = int(version) if version.isascii() and version.isdigit() and len(version) <= _DIGITS else 0
    if not 1 <= number <= MAX_VERSION:
        raise InvalidVersion(version=version)
    return number


SubjectPath = Annotated[Subject, Depends(_subject)]
VersionPath = Annotated[int | None, Depends(_version)]
SubjectQuery = Annotated[Subject | None, Depends(_subject_asked_for)]


def page(items: list[T], offset: int, limit: int) -> list[T]:
    """Return a page of a list; without a positive limit it extends to the end."""
    start = max(offset, 0)
    return items[start : start + limit] if limit > 0 else items[start:]
