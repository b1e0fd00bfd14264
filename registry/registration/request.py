"""Request to register a schema, and its result."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.compatibility.tags import Entity

__all__ = [
    "ANY_VERSION",
    "AnyVersion",
    "ExactVersion",
    "NextVersion",
    "RegistrationRequest",
    "RegistrationResult",
    "RequestedVersion",
    "TagEdits",
    "parse_requested_version",
]


@dataclass(frozen=True, slots=True)
class AnyVersion:
    """No number: any version with the content is the result, else one is appended."""


@dataclass(frozen=True, slots=True)
class NextVersion:
    """The number after the latest: of the versions with the content, only the latest is the result."""


@dataclass(frozen=True, slots=True)
class ExactVersion:
    """A number. No version has one below 1: it does not restrict the result, and nothing is appended."""

    number: int


RequestedVersion = AnyVersion | NextVersion | ExactVersion
ANY_VERSION: Final = AnyVersion()


def parse_requested_version(number: int | None) -> RequestedVersion:
    """Parse the number in a request body; absent, null and 0 are any version, -1 is the next one."""
    if not number:
        return AnyVersion()
    return NextVersion() if number == -1 else ExactVersion(number)


@dataclass(frozen=True, slots=True)
class TagEdits:
    """Changes to the tags inside a schema's text."""

    add: Mapping[Entity, Collection[str]] = field(default_factory=dict)
    remove: Mapping[Entity, Collection[str]] = field(default_factory=dict)
    propagate: bool = False  #: copy the previous version's tags to what still exists

    def __bool__(self) -> bool:
        """Return True if there is anything to change."""
        return bool(self.add or self.remove or self.propagate)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRequest:
    """Parameters of a registration."""

    subject: Subject  #: the requested name, which may be an alias
    draft: SchemaDraft  #: without text, it has that of the latest version
    normalize: bool = False  #: store the normalized text
    schema_id: int | None = None  #: the required id; needs an import mode, and permission to write all of the context
    version: RequestedVersion = ANY_VERSION
    force: bool = False  #: accept an incompatible schema
    tags: TagEdits = field(default_factory=TagEdits)  #: changes to the tags inside the text

    @property
    def number(self) -> int | None:
        """The number that the version must have, if the request has one."""
        return self.version.number if isinstance(self.version, ExactVersion) and self.version.number > 0 else None


@dataclass(frozen=True, slots=True)
class RegistrationResult:
    """Result of a registration; ``stored`` if it shows a version as stored rather than as sent."""

    schema: RegisteredSchema
    stored: bool = False
    warning: str | None = None  #: why the meta-schema rejects a schema that is accepted anyway
