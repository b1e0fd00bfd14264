"""What a call is, and the words in which calls are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import quote

from contractlog.compatibility.errors import InvalidSubject
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["Call", "Query", "SubjectLike", "VersionLike", "flags", "integers", "scope", "stored", "texts"]

T = TypeVar("T")
SubjectLike = str | Subject
VersionLike = int | Literal["latest"]
Query = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request of the API, and what its answer means."""

    method: str
    segments: tuple[str, ...]  #: of the path, as they are meant: not yet encoded
    read: Callable[[Any], T]  #: makes the result of the answer's JSON
    query: Query = ()
    body: Any = None
    repeatable: bool = True  #: whether sending it twice does what sending it once does

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


_DOTS: Final = frozenset({".", ".."})


def _encoded(segment: str) -> str:
    # A segment of one or two dots would be taken for a step in the path.
    return segment.replace(".", "%2E") if segment in _DOTS else quote(segment, safe="")


def flags(**given: bool) -> Query:
    """Write the flags that are set."""
    return tuple((name, "true") for name, value in given.items() if value)


def scope(resource: str, subject: SubjectLike | None) -> tuple[str, ...]:
    """Return the path of config or mode: of a subject, or of the registry.

    Raises:
        InvalidSubject: an empty one, whose path would mean all subjects.
    """
    if subject is None:
        return (resource,)
    if not str(subject):
        raise InvalidSubject(subject="")
    return (resource, str(subject))


def integers(body: Any) -> list[int]:
    """Read a list of numbers."""
    return [int(number) for number in body]


def texts(body: Any) -> list[str]:
    """Read a list of names."""
    return [str(text) for text in body]


def stored(body: Any, *, schema_id: int | None = None) -> RegisteredSchema:
    """Read a schema as a registry holds it."""
    if not isinstance(body["schema"], str):
        raise TypeError("a schema's text is a string")
    return RegisteredSchema.from_body(body, schema_id=schema_id)
