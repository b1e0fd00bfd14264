"""One function per endpoint of the registry: each describes a request and how its answer is read; nothing is sent.

Every call may be repeated when its answer was lost, but for deletions: a second one answers that the thing is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import quote

from contractlog.compatibility.errors import InvalidSchema, InvalidSubject
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft
from contractlog.contracts.observed.report import Part, TopicPart

__all__ = [
    "Call",
    "CompatibilityAnswer",
    "SubjectLike",
    "VersionLike",
    "by_id",
    "check",
    "conformance",
    "contexts",
    "delete_level",
    "delete_subject",
    "delete_version",
    "level",
    "lookup",
    "mode",
    "policy",
    "publish_conformance",
    "referenced",
    "referenced_by",
    "register",
    "set_level",
    "set_mode",
    "set_policy",
    "subjects",
    "types",
    "version",
    "versions",
    "versions_of_id",
]

T = TypeVar("T")
SubjectLike = str | Subject
VersionLike = int | Literal["latest"]

MAX_REFERENCED: Final = 1_000  #: schemas that one schema may lean on, directly or not, before the walk is given up


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request of the API, and what its answer means."""

    method: str
    segments: tuple[str, ...]  #: of the path, as they are meant: not yet encoded
    read: Callable[[Any], T]  #: makes the result of the answer's JSON
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None
    repeatable: bool = True  #: whether sending it twice does what sending it once does

    @property
    def target(self) -> str:
        """Path and query, percent-encoded with nothing safe.

        >>> versions("a/b").target
        '/subjects/a%2Fb/versions'
        """
        path = "/" + "/".join(map(_encoded, self.segments))
        if not self.query:
            return path
        return path + "?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in self.query)


@dataclass(frozen=True, slots=True)
class CompatibilityAnswer:
    """What the registry says of a schema that might follow; ``messages`` are its reasons against."""

    compatible: bool
    messages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.compatible


def register(subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}/versions."""
    return Call(
        "POST",
        ("subjects", str(subject), "versions"),
        lambda body: RegisteredSchema.from_body({"subject": str(subject)} | body, draft=draft),
        _flags(normalize=normalize),
        draft.body(),
    )


def lookup(
    subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
) -> Call[RegisteredSchema]:
    """POST /subjects/{subject}."""
    return Call(
        "POST",
        ("subjects", str(subject)),
        lambda body: RegisteredSchema.from_body(body, draft=draft),
        _flags(normalize=normalize, deleted=deleted),
        draft.body(),
    )


def by_id(schema_id: int, *, subject: SubjectLike | None = None) -> Call[RegisteredSchema]:
    """GET /schemas/ids/{id}."""
    return Call(
        "GET",
        ("schemas", "ids", str(schema_id)),
        lambda body: _stored(body, schema_id=schema_id),
        () if subject is None else (("subject", str(subject)),),
    )


def version(subject: SubjectLike, number: VersionLike, *, deleted: bool = False) -> Call[RegisteredSchema]:
    """GET /subjects/{subject}/versions/{version}."""
    return Call(
        "GET",
        ("subjects", str(subject), "versions", str(number)),
        _stored,
        _flags(deleted=deleted),
    )


def versions(subject: SubjectLike, *, deleted: bool = False) -> Call[list[int]]:
    """GET /subjects/{subject}/versions."""
    return Call("GET", ("subjects", str(subject), "versions"), _integers, _flags(deleted=deleted))


def subjects(*, prefix: str | None = None, deleted: bool = False) -> Call[list[str]]:
    """GET /subjects."""
    wanted = () if prefix is None else (("subjectPrefix", prefix),)
    return Call("GET", ("subjects",), _texts, wanted + _flags(deleted=deleted))


def versions_of_id(schema_id: int, *, deleted: bool = False) -> Call[list[tuple[str, int]]]:
    """GET /schemas/ids/{id}/versions."""
    return Call(
        "GET",
        ("schemas", "ids", str(schema_id), "versions"),
        lambda body: [(str(use["subject"]), int(use["version"])) for use in body],
        _flags(deleted=deleted),
    )


def referenced_by(subject: SubjectLike, number: VersionLike) -> Call[list[int]]:
    """GET /subjects/{subject}/versions/{version}/referencedby."""
    return Call("GET", ("subjects", str(subject), "versions", str(number), "referencedby"), _integers)


def delete_subject(subject: SubjectLike, *, permanent: bool = False) -> Call[list[int]]:
    """DELETE /subjects/{subject}."""
    return Call("DELETE", ("subjects", str(subject)), _integers, _flags(permanent=permanent), repeatable=False)


def delete_version(subject: SubjectLike, number: VersionLike, *, permanent: bool = False) -> Call[int]:
    """DELETE /subjects/{subject}/versions/{version}."""
    return Call(
        "DELETE",
        ("subjects", str(subject), "versions", str(number)),
        int,
        _flags(permanent=permanent),
        repeatable=False,
    )


def check(
    subject: SubjectLike, draft: SchemaDraft, *, number: VersionLike | None = None, normalize: bool = False
) -> Call[CompatibilityAnswer]:
    """POST /compatibility/subjects/{subject}/versions[/{version}]; without a number, all that the level selects."""
    one = () if number is None else (str(number),)
    return Call(
        "POST",
        ("compatibility", "subjects", str(subject), "versions", *one),
        lambda body: CompatibilityAnswer(bool(body["is_compatible"]), tuple(map(str, body.get("messages") or ()))),
        (*_flags(normalize=normalize), ("verbose", "true")),
        draft.body(),
    )


def level(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Level]:
    """GET /config[/{subject}]."""
    return Call(
        "GET",
        _scope("config", subject),
        lambda body: Level.parse(body["compatibilityLevel"]),
        () if subject is None else _flags(defaultToGlobal=inherited),
    )


def set_level(value: Level | str, subject: SubjectLike | None = None) -> Call[Level]:
    """PUT /config[/{subject}]."""
    wanted = Level.parse(value)
    return Call(
        "PUT",
        _scope("config", subject),
        lambda body: Level.parse(body.get("compatibility") or wanted),
        body={"compatibility": wanted.value},
    )


def policy(subject: SubjectLike | None = None) -> Call[Policy]:
    """GET /config[/{subject}]: how differences between JSON schemas are held against them, inherited or not."""
    return Call("GET", _scope("config", subject), _policy_of, () if subject is None else _flags(defaultToGlobal=True))


def set_policy(value: Policy, subject: SubjectLike | None = None) -> Call[Policy]:
    """PUT /config[/{subject}]; EXACT is a setting of contractlog alone, and goes before the others."""
    exact = {"contractlogPolicy": value.value}
    body = exact if value is Policy.EXACT else {"compatibilityPolicy": value.value, "contractlogPolicy": None}
    return Call("PUT", _scope("config", subject), _policy_of, body=body)


def delete_level(subject: SubjectLike | None = None) -> Call[Level | None]:
    """DELETE /config[/{subject}]; the answer is the level that was in force."""
    return Call("DELETE", _scope("config", subject), _level_before, repeatable=False)


def mode(subject: SubjectLike | None = None) -> Call[Mode]:
    """GET /mode[/{subject}]."""
    return Call(
        "GET",
        _scope("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        () if subject is None else _flags(defaultToGlobal=True),
    )


def set_mode(value: Mode | str, subject: SubjectLike | None = None) -> Call[Mode]:
    """PUT /mode[/{subject}]."""
    wanted = Mode.parse(value)
    return Call(
        "PUT",
        _scope("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        body={"mode": wanted.value},
    )


def types() -> Call[list[str]]:
    """GET /schemas/types."""
    return Call("GET", ("schemas", "types"), _texts)


def contexts() -> Call[list[str]]:
    """GET /contexts."""
    return Call("GET", ("contexts",), _texts)


def conformance(topic: str, *, part: Part | None = None) -> Call[list[TopicPart]]:
    """GET /contractlog/v1/conformance/{topic}."""
    return Call(
        "GET",
        ("contractlog", "v1", "conformance", topic),
        list,
        () if part is None else (("part", part),),
    )


def publish_conformance(topic: str, entry: TopicPart) -> Call[Mapping[str, Any]]:
    """POST /contractlog/v1/conformance/{topic}; the answer is the entry with the time of its recording."""
    return Call("POST", ("contractlog", "v1", "conformance", topic), dict, body=entry)


def referenced(
    draft: SchemaDraft, *, subject: SubjectLike | None = None
) -> Generator[Call[RegisteredSchema], RegisteredSchema, dict[str, str]]:
    """Ask for every schema that a draft leans on; return their texts by name, those that lean on nothing first.

    Args:
        draft: whose references are followed.
        subject: under which the draft stands; plain names in references mean its context.

    Raises:
        InvalidSchema: schemas that lean on each other in a circle, or more than ``MAX_REFERENCED`` of them.
    """
    texts: dict[str, str] = {}
    open_names: set[str] = set()
    start = Subject.parse(str(subject)).context if subject is not None else DEFAULT_CONTEXT
    # Each entry: a reference to follow (None once its own references are done), its name, its text.
    pending: list[tuple[Reference | None, str, str, str]] = [(r, r.name, "", start) for r in reversed(draft.references)]
    while pending:
        reference, name, text, context = pending.pop()
        if reference is None:
            texts[name] = text
            open_names.discard(name)
            continue
        if name in texts:
            continue
        if name in open_names:
            raise InvalidSchema(f"the reference `{name}` leads back to itself")
        if len(texts) + len(open_names) >= MAX_REFERENCED:
            raise InvalidSchema(f"a schema may lean on at most {MAX_REFERENCED} others")
        home = _in_context(reference.subject, context)
        found = yield version(home, "latest" if reference.version < 0 else reference.version, deleted=True)
        open_names.add(name)
        pending.append((None, name, found.text, home.context))
        pending.extend((r, r.name, "", home.context) for r in reversed(found.references))
    return texts


def _in_context(subject: str, context: str) -> Subject:
    parsed = Subject.parse(subject)
    return parsed if subject.startswith(":.") else Subject(context, parsed.name)


def _encoded(segment: str) -> str:
    # A segment of one or two dots would be taken for a step in the path.
    return segment.replace(".", "%2E") if segment in {".", ".."} else quote(segment, safe="")


def _flags(**flags: bool) -> tuple[tuple[str, str], ...]:
    return tuple((name, "true") for name, value in flags.items() if value)


def _scope(resource: str, subject: SubjectLike | None) -> tuple[str, ...]:
    if subject is None:
        return (resource,)
    if not str(subject):
        raise InvalidSubject(subject="")  # its path would mean all subjects
    return (resource, str(subject))


def _integers(body: Any) -> list[int]:
    return [int(number) for number in body]


def _texts(body: Any) -> list[str]:
    return [str(text) for text in body]


def _stored(body: Any, *, schema_id: int | None = None) -> RegisteredSchema:
    if not isinstance(body["schema"], str):
        raise TypeError("a schema's text is a string")
    return RegisteredSchema.from_body(body, schema_id=schema_id)


def _policy_of(body: Any) -> Policy:
    text = body.get("contractlogPolicy") or body.get("compatibilityPolicy")
    return Policy(text) if text in set(Policy) else Policy.STRICT


def _level_before(body: Any) -> Level | None:
    text = body.get("compatibilityLevel") or body.get("compatibility")
    return Level.parse(text) if text else None
