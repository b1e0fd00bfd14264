"""Request and response bodies of batches of schemas, as in ``openapi.yaml``."""

from __future__ import annotations

from typing import Any, Self, TypeVar

import msgspec
from msgspec import Raw, Struct

from contractlog.compatibility.errors import BadRequest, InvalidQuery, RegistryError
from contractlog.compatibility.located import located
from contractlog.compatibility.positions import places
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.bodies.requests import RegisterRequest, read
from contractlog.registry.paths import subject_of
from contractlog.registry.services.compatibility import LATEST, Answer
from contractlog.registry.services.many import Asked

__all__ = [
    "CheckManyBody",
    "CheckManyRequest",
    "CheckMemberRequest",
    "CheckedBody",
    "LookedUpBody",
    "LookupManyBody",
    "LookupManyRequest",
    "LookupMemberRequest",
    "member",
    "members",
]


class LookupMemberRequest(RegisterRequest, kw_only=True):
    """A schema to look up under a subject."""

    subject: str
    normalize: bool = False
    deleted: bool = False

    def asked(self) -> Asked:
        """Parse the member."""
        return Asked(subject_of(self.subject), self.draft(), self.normalize, self.deleted)


class CheckMemberRequest(RegisterRequest, kw_only=True):
    """A schema to check: against one version, ``latest``, or all that its subject's level selects."""

    subject: str
    against: int | str | None = None

    def asked(self) -> Asked:
        """Parse the member."""
        if isinstance(self.against, str) and self.against != LATEST:
            raise InvalidQuery(parameter="against", detail="it is a number, `latest` or null")
        return Asked(subject_of(self.subject), self.draft(), version=self.against)


class LookupManyRequest(Struct):
    """Schemas to look up."""

    schemas: list[LookupMemberRequest]


class CheckManyRequest(Struct):
    """Schemas to check, each as if those before it were registered."""

    schemas: list[CheckMemberRequest]


class _Members(Struct):
    schemas: list[Raw]


K = TypeVar("K", LookupMemberRequest, CheckMemberRequest)


def members(body: bytes) -> list[Raw]:
    """Parse a request, but not its members.

    Raises:
        Unprocessable, BadRequest: it has no list of members.
    """
    return read(body, _Members).schemas


def member(one: Raw, kind: type[K]) -> Asked:
    """Parse one member.

    Raises:
        BadRequest, InvalidSchema, InvalidSubject: it is invalid; other members are not affected.
    """
    try:
        return msgspec.json.decode(one, type=kind).asked()
    except msgspec.ValidationError as error:
        raise BadRequest(f"The member cannot be used: {error}") from error


class LookedUpBody(Struct, omit_defaults=True):
    """The version that has a schema, or an error."""

    subject: str | None = None
    version: int | None = None
    id: int | None = None
    guid: str | None = None
    deleted: bool | None = None
    error_code: int | None = None
    message: str | None = None

    @classmethod
    def of(cls, found: RegisteredSchema | RegistryError) -> Self:
        """Build one result."""
        if isinstance(found, RegistryError):
            return cls(error_code=found.error_code, message=found.message)
        return cls(str(found.subject), found.version, found.schema_id, found.guid, found.deleted)


class LookupManyBody(Struct):
    """One result for each schema, in the order of the request."""

    results: list[LookedUpBody]


class CheckedBody(Struct, omit_defaults=True):
    """The result of a compatibility check with its reasons, or an error."""

    subject: str | None = None
    is_compatible: bool | None = None
    level: str | None = None
    messages: list[str] | None = None
    findings: list[dict[str, Any]] | None = None  #: as in a `FindingBody`; suggested fixes are not tested
    error_code: int | None = None
    message: str | None = None

    @classmethod
    def of(cls, checked: tuple[Asked, Answer] | RegistryError) -> Self:
        """Build one result."""
        if isinstance(checked, RegistryError):
            return cls(error_code=checked.error_code, message=checked.message)
        asked, answer = checked
        verdict = answer.verdict
        comparisons = verdict.comparisons if verdict else ()
        found = [(finding, one.direction) for one in comparisons for finding in one.findings]
        earlier = [f"{asked.subject}:{one.version}" for one in comparisons for _ in one.findings]
        findings = [
            located(finding, direction, name, position).body()
            for (finding, direction), name, position in zip(
                found, earlier, places(asked.draft.text, found), strict=True
            )
        ]
        if answer.nonconformity is not None:
            findings.insert(0, answer.nonconformity.body())
        level = verdict.level.value if verdict else None
        return cls(str(asked.subject), answer.compatible, level, list(answer.messages), findings)


class CheckManyBody(Struct):
    """One result for each schema, in the order of the request."""

    results: list[CheckedBody]
