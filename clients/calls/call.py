"""Calls: a request and the parser of its response; sequences and pages of calls."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import quote

from contractlog.clients.calls.body_shapes import SCHEMA, VERSION, require_shape
from contractlog.compatibility.errors import InvalidSubject
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = [
    "MAX_SCHEMA_BYTES",
    "Call",
    "CallSequence",
    "Pages",
    "PathParameter",
    "Query",
    "ResponseBody",
    "SubjectLike",
    "VersionLike",
    "flag_parameters",
    "ignore_body",
    "page_parameters",
    "parse_integers",
    "parse_registered",
    "parse_strings",
    "parse_version",
    "pass_body",
    "query_parameters",
    "scoped_path",
]

T = TypeVar("T")
SubjectLike = str | Subject
VersionLike = int | Literal["latest"]
Query = tuple[tuple[str, str], ...]
ResponseBody = Mapping[str, Any]  #: response body as in ``openapi.yaml``

#: First segments of the paths that exist in each context; the others concern the whole registry.
_CONTEXT_RESOURCES: Final = frozenset(
    {"subjects", "schemas", "compatibility", "config", "mode", "associations", "dek-registry"}
)


class PathParameter(str):
    """Path segment that is a parameter: a subject, a version, an id."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """Request to the API, and the parser of its response."""

    method: str
    segments: tuple[str, ...]  #: of the path, not percent-encoded
    read: Callable[[Any], T]  #: parses the JSON of the response
    query: Query = ()
    body: Any = None
    repeatable: bool = True  #: whether it is idempotent, and so may be retried
    text: bool = False  #: whether the response is plain text, not JSON
    max_bytes: int | None = None  #: of the response, decoded; None: only the limit of all responses
    without_subject: Call[T] | None = None  #: sent if the server says that the subject does not exist

    @property
    def target(self) -> str:
        """Path and query, with every reserved character percent-encoded.

        >>> Call("GET", ("subjects", "a/b", "versions"), parse_integers).target
        '/subjects/a%2Fb/versions'
        """
        path = "/" + "/".join(map(_encode_segment, self.segments))
        if not self.query:
            return path
        return path + "?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in self.query)

    @property
    def route(self) -> str:
        """Path with ``{}`` for its parameters, for metrics; it reveals no data.

        >>> Call("GET", ("subjects", PathParameter("a/b"), "versions"), parse_integers).route
        '/subjects/{}/versions'
        """
        return "/" + "/".join("{}" if isinstance(segment, PathParameter) else segment for segment in self.segments)

    def within(self, context: str) -> Call[T]:
        """Return the call for a context; names qualified with a context keep theirs.

        >>> Call("GET", ("subjects", "s"), parse_integers).within(".eu").target
        '/contexts/%3A.eu%3A/subjects/s'
        """
        if not self.segments or self.segments[0].partition(":")[0] not in _CONTEXT_RESOURCES:
            return self
        return replace(self, segments=("contexts", PathParameter(f":{context}:"), *self.segments))


#: Of a response with one schema: ten times what a schema and its dependencies may have, as JSON may escape characters.
MAX_SCHEMA_BYTES: Final = 64 * 1024 * 1024
_DOT_SEGMENTS: Final = frozenset({".", ".."})


#: Generator of calls: it is sent their responses, or their errors are thrown into it, and it returns the result.
CallSequence = Generator[Call[Any], Any, T]
#: Generator of a long list: it yields calls, whose responses it is sent, and items of the list.
Pages = Generator[Call[Any] | Sequence[T], Any, None]


def _encode_segment(segment: str) -> str:
    # A segment `.` or `..` would be removed as a relative path step.
    return segment.replace(".", "%2E") if segment in _DOT_SEGMENTS else quote(segment, safe="")


def flag_parameters(**members: bool) -> Query:
    """Return the query parameters of the flags that are true."""
    return tuple((name, "true") for name, value in members.items() if value)


def query_parameters(**members: Any) -> Query:
    """Return the query parameters that are not None."""
    return tuple((name, str(value)) for name, value in members.items() if value is not None)


def page_parameters(offset: int, limit: int) -> Query:
    """Return the query parameters for a part of a list; a negative limit means no limit."""
    return query_parameters(offset=offset or None, limit=None if limit < 0 else limit)


def scoped_path(resource: str, subject: SubjectLike | None) -> tuple[str, ...]:
    """Return the path of config or mode, for a subject or for the registry.

    Raises:
        InvalidSubject: the subject is empty; its path would be that of the registry.
    """
    if subject is None:
        return (resource,)
    if not str(subject):
        raise InvalidSubject(subject="")
    return (resource, PathParameter(subject))


def pass_body(body: Any) -> Any:
    """Return the body as it is."""
    return body


def ignore_body(body: Any) -> None:
    """Ignore the body."""
    del body


def parse_integers(body: Any) -> list[int]:
    """Parse a list of integers.

    Raises:
        TypeError: the body is anything else.
    """
    require_shape(body, [int])
    return list(body)


def parse_strings(body: Any) -> list[str]:
    """Parse a list of strings.

    Raises:
        TypeError: the body is anything else; otherwise ``null`` would become a subject called ``None``.
    """
    if not isinstance(body, list) or not all(isinstance(text, str) for text in body):
        raise TypeError("a list of names is a list of strings")
    return body


def parse_registered(body: Any, *, schema_id: int | None = None, draft: SchemaDraft | None = None) -> RegisteredSchema:
    """Parse a registered schema; its text may be absent if there is a draft.

    Raises:
        TypeError: a member has another type, or the schema's text is absent.
    """
    require_shape(body, SCHEMA)
    if draft is None and not isinstance(body["schema"], str):
        raise TypeError("a schema's text is a string")
    return RegisteredSchema.from_body(body, schema_id=schema_id, draft=draft)


def parse_version(body: Any, *, draft: SchemaDraft | None = None) -> RegisteredSchema:
    """Parse a registered schema as a version of a subject, which has a number and an id.

    Raises:
        TypeError: as for ``parse_registered``.
        ValueError: the number or the id is absent.
    """
    schema = parse_registered(body, draft=draft)
    if not all(body.get(name) for name in VERSION):
        raise ValueError("a version has a number and an id")
    return schema
