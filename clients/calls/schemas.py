"""Schemas: by id and guid, lists of them, compatibility of a candidate, and dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.clients.calls.body_shapes import SCHEMA, require_shape
from contractlog.clients.calls.call import (
    MAX_SCHEMA_BYTES,
    Call,
    CallSequence,
    Pages,
    PathParameter,
    SubjectLike,
    VersionLike,
    flag_parameters,
    page_parameters,
    parse_registered,
    parse_strings,
    parse_version,
    pass_body,
    query_parameters,
)
from contractlog.clients.calls.subjects import version
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject, qualify_subject
from contractlog.compatibility.limits import MAX_DEPENDENCY_CHARACTERS
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft

__all__ = [
    "MAX_REFERENCED",
    "CompatibilityResult",
    "by_guid",
    "by_id",
    "check",
    "each_schema",
    "ids_of_guid",
    "referenced",
    "resolve_subject",
    "schemas",
    "subjects_of_id",
    "text_of_id",
    "types",
    "versions_of_id",
]


MAX_REFERENCED: Final = 1_000  #: most direct and indirect dependencies of a schema


@dataclass(frozen=True, slots=True)
class CompatibilityResult:
    """Verdict of the registry on a candidate; ``messages`` are the reasons why it is incompatible."""

    compatible: bool
    messages: tuple[str, ...] = ()

    @classmethod
    def from_body(cls, body: Any) -> CompatibilityResult:
        """Parse a response body."""
        return cls(bool(body["is_compatible"]), tuple(map(str, body.get("messages") or ())))

    def __bool__(self) -> bool:
        return self.compatible


def by_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    format: str | None = None,  # noqa: A002 - as it is sent
    qualified: bool = False,
) -> Call[RegisteredSchema]:
    """Return the schema with this id."""
    return Call(
        "GET",
        ("schemas", "ids", PathParameter(schema_id)),
        lambda body: parse_registered(body, schema_id=schema_id),
        query_parameters(subject=subject, format=format, referenceFormat="qualified" if qualified else None),
        max_bytes=MAX_SCHEMA_BYTES,
    )


def text_of_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    format: str | None = None,  # noqa: A002 - as it is sent
) -> Call[str]:
    """Return only the text of a schema."""
    path = ("schemas", "ids", PathParameter(schema_id), "schema")
    return Call("GET", path, pass_body, query_parameters(subject=subject, format=format), text=True)


def subjects_of_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[str]]:
    """Return all subjects with a version of this id."""
    query = (*query_parameters(subject=subject), *flag_parameters(deleted=deleted), *page_parameters(offset, limit))
    return Call("GET", ("schemas", "ids", PathParameter(schema_id), "subjects"), parse_strings, query)


def versions_of_id(
    schema_id: int,
    *,
    subject: SubjectLike | None = None,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> Call[list[tuple[str, int]]]:
    """Return the (subject, version) of all versions with this id."""
    return Call(
        "GET",
        ("schemas", "ids", PathParameter(schema_id), "versions"),
        lambda body: [(str(use["subject"]), int(use["version"])) for use in _require_versions(body)],
        (*query_parameters(subject=subject), *flag_parameters(deleted=deleted), *page_parameters(offset, limit)),
    )


def by_guid(guid: str, *, format: str | None = None) -> Call[RegisteredSchema]:  # noqa: A002 - as it is sent
    """Return the schema with this guid; its id is 0 if the registry sends none."""
    return Call(
        "GET",
        ("schemas", "guids", PathParameter(guid)),
        lambda body: parse_registered({"guid": guid} | body, schema_id=int(body.get("id") or 0)),
        query_parameters(format=format),
        max_bytes=MAX_SCHEMA_BYTES,
    )


def _require_versions(body: Any) -> Any:
    require_shape(body, [SCHEMA])
    return body


def ids_of_guid(guid: str) -> Call[list[tuple[str, int]]]:
    """Return every (context, id) of the content with this guid; an empty list if there is none."""
    return Call(
        "GET",
        ("schemas", "guids", PathParameter(guid), "ids"),
        lambda body: [(str(item["context"]), int(item["id"])) for item in body],
    )


def schemas(
    *,
    prefix: str | None = None,
    deleted: bool = False,
    latest_only: bool = False,
    aliases: bool = False,
    rule_type: str | None = None,
    resource_type: str | None = None,
    association_types: Iterable[str] = (),
    lifecycles: Iterable[str] = (),
    offset: int = 0,
    limit: int = -1,
) -> Call[list[RegisteredSchema]]:
    """Return versions with their schemas; the registry truncates long lists, ``each_schema`` does not."""
    query = (
        *query_parameters(subjectPrefix=prefix, ruleType=rule_type, resourceType=resource_type),
        *flag_parameters(deleted=deleted, latestOnly=latest_only, aliases=aliases),
        *(("associationType", value) for value in association_types),
        *(("lifecycle", value) for value in lifecycles),
        *page_parameters(offset, limit),
    )
    return Call("GET", ("schemas",), lambda body: [parse_version(item) for item in body], query)


def each_schema(
    *, prefix: str | None = None, deleted: bool = False, latest_only: bool = False, page: int = 1_000
) -> Pages[RegisteredSchema]:
    """Iterate over all versions with their schemas, page by page; servers send at most 1,000 per page."""
    offset = 0
    previous: Sequence[RegisteredSchema] = ()
    while True:
        versions = yield schemas(prefix=prefix, deleted=deleted, latest_only=latest_only, offset=offset, limit=page)
        if versions and versions == previous:  # the server ignores the offset
            return
        yield versions
        if not versions:
            return
        previous = versions
        offset += len(versions)


def types() -> Call[list[str]]:
    """Return the schema formats that the registry supports."""
    return Call("GET", ("schemas", "types"), parse_strings)


def check(
    subject: SubjectLike, draft: SchemaDraft, *, version: VersionLike | None = None, normalize: bool = False
) -> Call[CompatibilityResult]:
    """Check a candidate against one version, or all versions that the level of the subject selects."""
    version_segment = () if version is None else (PathParameter(version),)
    return Call(
        "POST",
        ("compatibility", "subjects", PathParameter(subject), "versions", *version_segment),
        CompatibilityResult.from_body,
        (*flag_parameters(normalize=normalize), ("verbose", "true")),
        draft.body(),
    )


def referenced(draft: SchemaDraft, *, subject: SubjectLike | None = None) -> CallSequence[Mapping[str, str]]:
    """Return the texts of all dependencies of a draft by name, each after its own dependencies.

    Args:
        draft: the schema whose references are followed.
        subject: of the draft; unqualified names in references are resolved in its context.

    Raises:
        InvalidSchema: the references form a cycle, or the dependencies are more than ``MAX_REFERENCED``, or longer
            than ``MAX_DEPENDENCY_CHARACTERS`` together.
    """
    characters = 0
    texts: dict[str, str] = {}
    unresolved: set[str] = set()
    start = Subject.parse(str(subject)).context if subject is not None else DEFAULT_CONTEXT
    # Stack of (reference to follow, or None once its own references are resolved; name; text; context).
    pending: list[tuple[Reference | None, str, str, str]] = [(r, r.name, "", start) for r in reversed(draft.references)]
    while pending:
        reference, name, text, context = pending.pop()
        if reference is None:
            texts[name] = text
            unresolved.discard(name)
            continue
        if name in texts:
            continue
        if name in unresolved:
            raise InvalidSchema(f"the reference `{name}` leads back to itself")
        if len(texts) + len(unresolved) >= MAX_REFERENCED:
            raise InvalidSchema(f"a schema may depend on at most {MAX_REFERENCED} others")
        target_subject = resolve_subject(reference.subject, context)
        schema = yield version(target_subject, "latest" if reference.version < 0 else reference.version, deleted=True)
        characters += len(schema.text)
        if characters > MAX_DEPENDENCY_CHARACTERS:
            raise InvalidSchema(
                f"the dependencies have more than {MAX_DEPENDENCY_CHARACTERS:,} characters, which is the limit"
            )
        unresolved.add(name)
        pending.append((None, name, schema.text, target_subject.context))
        pending.extend((r, r.name, "", target_subject.context) for r in reversed(schema.references))
    return texts


def resolve_subject(subject: str, context: str) -> Subject:
    """Return the subject of a reference in a schema of this context."""
    return Subject.parse(qualify_subject(subject, context))
