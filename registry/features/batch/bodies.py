"""Request and response bodies of batches of schemas, as in ``openapi.yaml``."""

from __future__ import annotations

from typing import Any, Self, TypeVar

import msgspec
from msgspec import Raw, Struct

from contractlog.compatibility.errors import BadRequest, InvalidQuery, InvalidVersion, RegistryError
from contractlog.compatibility.finding_positions import find_positions
from contractlog.compatibility.identifiers import MAX_VERSION
from contractlog.compatibility.located_finding import locate_finding
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.features.batch.service import BatchMember
from contractlog.registry.features.compatibility.service import LATEST, CheckResult
from contractlog.registry.http.path_values import parse_subject
from contractlog.registry.http.request_bodies import RegisterRequest, parse_body

__all__ = [
    "CheckManyBody",
    "CheckManyRequest",
    "CheckMemberRequest",
    "CheckedBody",
    "LookedUpBody",
    "LookupManyBody",
    "LookupManyRequest",
    "LookupMemberRequest",
    "parse_member",
    "parse_members",
]


class LookupMemberRequest(RegisterRequest, kw_only=True):
    """A schema to look up under a subject."""

    subject: str
    normalize: bool = False
    deleted: bool = False

    def parse(self) -> BatchMember:
        """Parse the member."""
        return BatchMember(parse_subject(self.subject), self.draft(), self.normalize, self.deleted)


class CheckMemberRequest(RegisterRequest, kw_only=True):
    """A schema to check: against one version, ``latest``, or all that its subject's level selects."""

    subject: str
    against: int | str | None = None

    def parse(self) -> BatchMember:
        """Parse the member."""
        if isinstance(self.against, str) and self.against != LATEST:
            raise InvalidQuery(parameter="against", detail="it must be a number, `latest` or null")
        if isinstance(self.against, int) and not 1 <= self.against <= MAX_VERSION:
            raise InvalidVersion(version=self.against)
        return BatchMember(parse_subject(self.subject), self.draft(), version=self.against)


class LookupManyRequest(Struct):
    """Schemas to look up."""

    schemas: list[LookupMemberRequest]


class CheckManyRequest(Struct):
    """Schemas to check, each as if those before it were registered."""

    schemas: list[CheckMemberRequest]


class _RawMembers(Struct):
    schemas: list[Raw]


K = TypeVar("K", LookupMemberRequest, CheckMemberRequest)


def parse_members(body: bytes) -> list[Raw]:
    """Parse a request, but not its members.

    Raises:
        Unprocessable, BadRequest: it has no list of members.
    """
    return parse_body(body, _RawMembers).schemas


def parse_member(raw: Raw, kind: type[K]) -> BatchMember:
    """Parse one member.

    Raises:
        BadRequest, InvalidSchema, InvalidSubject: it is invalid; other members are not affected.
    """
    try:
        return msgspec.json.decode(raw, type=kind).parse()
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
    def of(cls, result: RegisteredSchema | RegistryError) -> Self:
        """Build one result."""
        if isinstance(result, RegistryError):
            return cls(error_code=result.error_code, message=result.message)
        return cls(str(result.subject), result.version, result.schema_id, result.guid, result.deleted)


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
    def of(cls, checked: tuple[BatchMember, CheckResult] | RegistryError) -> Self:
        """Build one result."""
        if isinstance(checked, RegistryError):
            return cls(error_code=checked.error_code, message=checked.message)
        batch_member, result = checked
        verdict = result.verdict
        comparisons = verdict.comparisons if verdict else ()
        findings_with_direction = [
            (finding, comparison.direction) for comparison in comparisons for finding in comparison.findings
        ]
        earlier = [
            f"{batch_member.subject}:{comparison.version}" for comparison in comparisons for _ in comparison.findings
        ]
        findings = [
            locate_finding(finding, direction, name, position).body()
            for (finding, direction), name, position in zip(
                findings_with_direction,
                earlier,
                find_positions(batch_member.draft.text, findings_with_direction),
                strict=True,
            )
        ]
        if result.nonconformity is not None:
            findings.insert(0, result.nonconformity.body())
        level = verdict.level.value if verdict else None
        return cls(str(batch_member.subject), result.compatible, level, list(result.messages), findings)


class CheckManyBody(Struct):
    """One result for each schema, in the order of the request."""

    results: list[CheckedBody]
