"""What a call is, and the words in which calls are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import quote

from contractlog.compatibility.errors import InvalidSubject
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema

__all__ = [
    "Answered",
    "Call",
    "Named",
    "Query",
    "SubjectLike",
    "VersionLike",
    "anything",
    "flags",
    "given",
    "integers",
    "nothing",
    "paged",
    "scope",
    "stored",
    "texts",
]

T = TypeVar("T")
SubjectLike = str | Subject
VersionLike = int | Literal["latest"]
Query = tuple[tuple[str, str], ...]
Answered = Mapping[str, Any]  #: as in ``openapi.yaml``

#: Beginnings of paths that know contexts; the others mean the registry as a whole.
_IN_CONTEXTS: Final = frozenset({"subjects", "schemas", "compatibility", "config", "mode", "associations"})


class Named(str):
    """A part of a path that names something: a subject, a version, an id. The other parts are the endpoint's own."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request of the API, and what its answer means."""

    method: str
    segments: tuple[str, ...]  #: of the path, as they are meant: not yet encoded
    read: Callable[[Any], T]  #: makes the result of the answer's JSON
    query: Query = ()
    body: Any = None
    repeatable: bool = True  #: whether sending it twice does what sending it once does
    text: bool = False  #: whether the answer is a text, and not JSON

    @property
    def target(self) -> str:
        """Path and query, percent-encoded with nothing safe.

        >>> Call("GET", ("subjects", "a/b", "versions"), integers).target
        '/subjects/a%2Fb/versions'
        """
        path = "/" + "/".join(map(_encoded, self.segments))
        if not self.query:
            return path
        return path + "?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in self.query)

    @property
    def route(self) -> str:
        """The path with what it names left out, for counting; it says nothing about anybody's data.

        >>> Call("GET", ("subjects", Named("a/b"), "versions"), integers).route
        '/subjects/{}/versions'
        """
        return "/" + "/".join("{}" if isinstance(segment, Named) else segment for segment in self.segments)

    def within(self, context: str) -> Call[T]:
        """Return the call as it is asked inside a context; names that bring their own context keep it.

        >>> Call("GET", ("subjects", "s"), integers).within(".eu").target
        '/contexts/%3A.eu%3A/subjects/s'
        """
        if not self.segments or self.segments[0].partition(":")[0] not in _IN_CONTEXTS:
            return self
        return replace(self, segments=("contexts", Named(f":{context}:"), *self.segments))


_DOTS: Final = frozenset({".", ".."})


def _encoded(segment: str) -> str:
    # A segment of one or two dots would be taken for a step in the path.
    return segment.replace(".", "%2E") if segment in _DOTS else quote(segment, safe="")


def flags(**wanted: bool) -> Query:
    """Write the flags that are set."""
    return tuple((name, "true") for name, value in wanted.items() if value)


def given(**members: Any) -> Query:
    """Write the members that are not None."""
    return tuple((name, str(value)) for name, value in members.items() if value is not None)


def paged(offset: int, limit: int) -> Query:
    """Write which part of a list is wanted; all of it needs no words."""
    return given(offset=offset or None, limit=None if limit < 0 else limit)


def scope(resource: str, subject: SubjectLike | None) -> tuple[str, ...]:
    """Return the path of config or mode: of a subject, or of the registry.

    Raises:
        InvalidSubject: an empty one, whose path would mean all subjects.
    """
    if subject is None:
        return (resource,)
    if not str(subject):
        raise InvalidSubject(subject="")
    return (resource, Named(subject))


def anything(body: Any) -> Any:
    """Take what came."""
    return body


def nothing(body: Any) -> None:
    """Let go of what came."""
    del body


def integers(body: Any) -> list[int]:
    """Read a list of numbers."""
    return [int(number) for number in body]


def texts(body: Any) -> list[str]:
    """Read a list of names.

    Raises:
        TypeError: it is anything but a list of strings; otherwise `null` would become a subject `None`.
    """
    if not isinstance(body, list) or not all(isinstance(text, str) for text in body):
        raise TypeError("a list of names is a list of strings")
    return body


def stored(body: Any, *, schema_id: int | None = None) -> RegisteredSchema:
    """Read a schema as a registry holds it."""
    if not isinstance(body["schema"], str):
        raise TypeError("a schema's text is a string")
    return RegisteredSchema.from_body(body, schema_id=schema_id)
