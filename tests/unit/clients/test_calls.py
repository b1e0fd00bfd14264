"""The request of each endpoint, and the result parsed from its response."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Registry, calls
from contractlog.clients.calls import Call, CompatibilityResult, extensions
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import InvalidLevel, InvalidSchema, InvalidSubject
from contractlog.compatibility.identifiers import SchemaId, Subject, Version
from contractlog.compatibility.level import Level
from contractlog.compatibility.limits import MAX_DEPENDENCY_CHARACTERS
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft, SchemaType

DRAFT = SchemaDraft('"string"')
JSON_DRAFT = SchemaDraft("{}", SchemaType.JSON, (Reference("a.json", "a-value", 2),))

REQUESTS: list[tuple[Call[Any], str, str, Any]] = [
    (calls.register("s", DRAFT), "POST", "/subjects/s/versions", {"schema": '"string"'}),
    (
        calls.register("s", JSON_DRAFT, normalize=True),
        "POST",
        "/subjects/s/versions?normalize=true",
        {
            "schema": "{}",
            "schemaType": "JSON",
            "references": [{"name": "a.json", "subject": "a-value", "version": 2}],
        },
    ),
    (calls.lookup("s", DRAFT), "POST", "/subjects/s", {"schema": '"string"'}),
    (
        calls.lookup("s", DRAFT, normalize=True, deleted=True),
        "POST",
        "/subjects/s?normalize=true&deleted=true",
        {"schema": '"string"'},
    ),
    (calls.by_id(7), "GET", "/schemas/ids/7", None),
    (calls.by_id(7, subject=":.c:s"), "GET", "/schemas/ids/7?subject=%3A.c%3As", None),
    (calls.version("s", "latest"), "GET", "/subjects/s/versions/latest", None),
    (calls.version("s", 3, deleted=True), "GET", "/subjects/s/versions/3?deleted=true", None),
    (calls.versions("s"), "GET", "/subjects/s/versions", None),
    (calls.subjects(), "GET", "/subjects", None),
    (calls.subjects(prefix=":*:", deleted=True), "GET", "/subjects?subjectPrefix=%3A%2A%3A&deleted=true", None),
    (calls.versions_of_id(7, deleted=True), "GET", "/schemas/ids/7/versions?deleted=true", None),
    (calls.referenced_by("s", 1), "GET", "/subjects/s/versions/1/referencedby", None),
    (calls.versions("s", offset=0, limit=0), "GET", "/subjects/s/versions?limit=0", None),
    (calls.versions("s", offset=2, limit=-1), "GET", "/subjects/s/versions?offset=2", None),
    (calls.delete_subject("s"), "DELETE", "/subjects/s", None),
    (calls.delete_subject("s", permanent=True), "DELETE", "/subjects/s?permanent=true", None),
    (calls.delete_version("s", 1, permanent=True), "DELETE", "/subjects/s/versions/1?permanent=true", None),
    (
        calls.check("s", DRAFT),
        "POST",
        "/compatibility/subjects/s/versions?verbose=true",
        {"schema": '"string"'},
    ),
    (
        calls.check("s", DRAFT, version="latest", normalize=True),
        "POST",
        "/compatibility/subjects/s/versions/latest?normalize=true&verbose=true",
        {"schema": '"string"'},
    ),
    (calls.level(), "GET", "/config?defaultToGlobal=true", None),
    (calls.level("s"), "GET", "/config/s?defaultToGlobal=true", None),
    (calls.level("s", inherited=False), "GET", "/config/s", None),
    (calls.set_level("full", "s"), "PUT", "/config/s", {"compatibility": "FULL"}),
    (calls.set_level(Level.NONE), "PUT", "/config", {"compatibility": "NONE"}),
    (calls.policy(), "GET", "/config?defaultToGlobal=true", None),
    (calls.policy("s"), "GET", "/config/s?defaultToGlobal=true", None),
    (
        calls.set_policy(Policy.LENIENT, "s"),
        "PUT",
        "/config/s",
        {"compatibilityPolicy": "LENIENT", "contractlogPolicy": None},
    ),
    (calls.set_policy(Policy.EXACT), "PUT", "/config", {"contractlogPolicy": "EXACT"}),
    (calls.delete_level("s"), "DELETE", "/config/s", None),
    (calls.mode(), "GET", "/mode?defaultToGlobal=true", None),
    (calls.mode("s"), "GET", "/mode/s?defaultToGlobal=true", None),
    (calls.set_mode("readonly", "s"), "PUT", "/mode/s", {"mode": "READONLY"}),
    (calls.set_mode(Mode.READWRITE), "PUT", "/mode", {"mode": "READWRITE"}),
    (calls.types(), "GET", "/schemas/types", None),
    (calls.contexts(), "GET", "/contexts", None),
    (calls.conformance("t", part="key"), "GET", "/contractlog/v1/conformance/t?part=key", None),
    (
        calls.conformance_history("t", part="key", limit=7),
        "GET",
        "/contractlog/v1/conformance/t/history?part=key&limit=7",
        None,
    ),
    (calls.conformance("t"), "GET", "/contractlog/v1/conformance/t", None),
    (
        extensions.lineage("t", direction="upstream", depth=2, field="a.b", at="2013-07-01", evidence="values"),
        "GET",
        "/contractlog/v1/lineage/t?direction=upstream&depth=2&field=a.b&at=2013-07-01&evidence=values",
        None,
    ),
    (extensions.lineage_edges(after=7), "GET", "/contractlog/v1/lineage?after=7", None),
    (extensions.publish_lineage({"job": {}}), "POST", "/contractlog/v1/lineage", {"job": {}}),
    (extensions.publish_lineage(({"job": {}},)), "POST", "/contractlog/v1/lineage", [{"job": {}}]),
]


@pytest.mark.parametrize(("call", "method", "target", "body"), REQUESTS, ids=lambda value: str(value)[:60])
def test_each_call_is_this_request(call: Call[Any], method: str, target: str, body: Any) -> None:
    assert (call.method, call.target, call.body) == (method, target, body)


@pytest.mark.parametrize(
    ("subject", "segment"),
    [
        ("a/b", "a%2Fb"),
        (":.c:x", "%3A.c%3Ax"),
        ("ü €", "%C3%BC%20%E2%82%AC"),
        ("100%", "100%25"),
        ("a?b#c&d+e", "a%3Fb%23c%26d%2Be"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("~x_y-z.1", "~x_y-z.1"),
        ("", ""),
    ],
)
def test_a_subject_is_encoded_with_nothing_safe(subject: str, segment: str) -> None:
    assert calls.versions(subject).target == f"/subjects/{segment}/versions"


def test_a_subject_value_and_its_text_are_the_same_request() -> None:
    assert calls.versions(Subject(".c", "x")).target == calls.versions(":.c:x").target


def test_only_deletions_may_not_be_repeated() -> None:
    assert not calls.derive("s", 1).repeatable  # it would derive twice
    assert {call.method for call, *_ in REQUESTS if not call.repeatable} == {"DELETE"}
    assert {call.method for call, *_ in REQUESTS if call.repeatable} == {"GET", "POST", "PUT"}


@pytest.mark.parametrize(
    "body",
    [
        {"id": 5},
        {"id": 5, "version": 2, "schema": '"string"'},
        {"id": 5, "version": 2, "schemaType": "AVRO", "schema": '"string"', "guid": "g", "ts": 1, "deleted": False},
    ],
    ids=["until 7.4", "7.5 to 7.9", "8.0 on"],
)
def test_a_registration_reads_the_answers_of_all_eras(body: dict[str, Any]) -> None:
    registered = calls.register("s", DRAFT).read(body)
    assert (registered.schema_id, registered.text, registered.subject) == (5, '"string"', Subject(".", "s"))
    assert registered.version == body.get("version")
    assert registered.draft == DRAFT


def test_answers_are_read_as_values() -> None:
    assert calls.level().read({"compatibilityLevel": "FULL"}) is Level.FULL
    assert calls.policy().read({"compatibilityPolicy": "LENIENT"}) is Policy.LENIENT
    assert calls.policy().read({"compatibilityPolicy": "LENIENT", "contractlogPolicy": "EXACT"}) is Policy.EXACT
    assert calls.policy().read({"compatibilityPolicy": "LOGICAL"}) is Policy.STRICT
    assert calls.mode().read({"mode": "READONLY"}) is Mode.READONLY
    assert calls.versions_of_id(1).read([{"subject": "s", "version": 2}]) == [("s", 2)]
    assert calls.check("s", DRAFT).read({"is_compatible": False, "messages": ["m"]}) == CompatibilityResult(
        compatible=False, messages=("m",)
    )
    assert calls.check("s", DRAFT).read({"is_compatible": True})
    assert calls.delete_version("s", 3).read(3) == 3
    assert calls.delete_level("s").read({"compatibilityLevel": "NONE"}) is Level.NONE


def test_an_unknown_level_is_refused_before_it_is_sent() -> None:
    with pytest.raises(InvalidLevel):
        calls.set_level("SIDEWAYS", "s")


def test_an_empty_subject_is_never_taken_for_all_subjects() -> None:
    for call in (calls.level, calls.delete_level, calls.mode):
        with pytest.raises(InvalidSubject):
            call("")
    with pytest.raises(InvalidSubject):
        calls.set_level("NONE", "")


def stored(text: str, *references: Reference) -> RegisteredSchema:
    return RegisteredSchema(SchemaId(1), text, references=references, version=Version(1))


def walked(draft: SchemaDraft, known: dict[str, RegisteredSchema], subject: str | None = None) -> dict[str, str]:
    """Drive the walk with what a registry holds, by path."""
    walk = calls.referenced(draft, subject=subject)
    try:
        call = next(walk)
        while True:
            call = walk.send(known[call.target])
    except StopIteration as done:
        texts: dict[str, str] = done.value
        return texts


def test_references_come_after_what_they_lean_on() -> None:
    a, b, c = Reference("a", "a", 1), Reference("b", "b", -1), Reference("c", "c", 3)
    known = {
        "/subjects/a/versions/1?deleted=true": stored("A", b),
        "/subjects/b/versions/latest?deleted=true": stored("B", c),
        "/subjects/c/versions/3?deleted=true": stored("C"),
    }
    assert list(walked(SchemaDraft("", references=(a, c)), known).items()) == [("c", "C"), ("b", "B"), ("a", "A")]


def test_plain_references_stay_in_the_context_of_who_leans_on_them() -> None:
    known = {
        "/subjects/%3A.x%3Aa/versions/1?deleted=true": stored("A", Reference("b", "b", 1)),
        "/subjects/%3A.x%3Ab/versions/1?deleted=true": stored("B", Reference("c", ":.y:c", 1)),
        "/subjects/%3A.y%3Ac/versions/1?deleted=true": stored("C"),
    }
    draft = SchemaDraft("", references=(Reference("a", "a", 1),))
    assert list(walked(draft, known, ":.x:mine")) == ["c", "b", "a"]


def test_references_in_a_circle_are_an_error_and_no_hang() -> None:
    known = {
        "/subjects/a/versions/1?deleted=true": stored("A", Reference("b", "b", 1)),
        "/subjects/b/versions/1?deleted=true": stored("B", Reference("a", "a", 1)),
    }
    with pytest.raises(InvalidSchema, match="back to itself"):
        walked(SchemaDraft("", references=(Reference("a", "a", 1),)), known)


def test_references_without_end_are_an_error() -> None:
    walk = calls.referenced(SchemaDraft("", references=(Reference("0", "0", 1),)))
    next(walk)
    for number in range(1, calls.MAX_REFERENCED):
        walk.send(stored("X", Reference(str(number), str(number), 1)))
    with pytest.raises(InvalidSchema, match="at most"):
        walk.send(stored("X", Reference("end", "end", 1)))


def test_dependencies_that_are_too_long_together_are_not_fetched_to_the_end() -> None:
    references = tuple(Reference(str(number), str(number), 1) for number in range(100))
    walk = calls.referenced(SchemaDraft("", references=references))
    next(walk)
    walk.send(stored("x" * (MAX_DEPENDENCY_CHARACTERS // 2)))
    walk.send(stored("x" * (MAX_DEPENDENCY_CHARACTERS // 2)))
    with pytest.raises(InvalidSchema, match="more than 10,485,760 characters"):
        walk.send(stored("x"))


def public(kind: type) -> dict[str, list[tuple[str, str]]]:
    return {
        name: [(one.name, str(one.annotation)) for one in inspect.signature(member).parameters.values()]
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_both_clients_have_the_same_methods() -> None:
    assert public(Registry) == public(AsyncRegistry)
    waited = {"forget", "with_context"}  # these send nothing
    for name in public(AsyncRegistry):
        member = getattr(AsyncRegistry, name)
        sends = inspect.iscoroutinefunction(member) or inspect.isasyncgenfunction(member)
        assert sends is (name not in waited), name


@pytest.mark.parametrize("body", [[None], [1], ["s", None], [{"s": 1}], "names", {"s": 1}])
@pytest.mark.parametrize("call", [calls.subjects(), calls.contexts(), calls.types(), calls.subjects_of_id(1)])
def test_a_list_of_names_is_a_list_of_strings(call: Call[Any], body: Any) -> None:
    with pytest.raises(TypeError, match="list of strings"):
        call.read(body)


def test_a_subject_is_in_a_list_once() -> None:
    assert calls.subjects().read(["b", "a", "b"]) == ["b", "a"]


@pytest.mark.parametrize(
    ("answers", "listed"),
    [
        ([["a", "b"], ["c"]], ["a", "b", "c"]),
        ([["a", "b"], ["c", "d"], []], ["a", "b", "c", "d"]),
        ([["a", "b", "c"]], ["a", "b", "c"]),  # a server that ignores the limit
        ([["a", "b"], ["a", "b"]], ["a", "b"]),  # a server that ignores both, with as many subjects as a page has
        ([["a", "a"], ["b", "a"], ["c"]], ["a", "b", "c"]),  # a server that repeats names
        ([["a", "a"], ["a", "a"]], ["a"]),
    ],
)
def test_subjects_are_listed_once_even_by_a_server_without_pages(answers: list[list[str]], listed: list[str]) -> None:
    pages = calls.each_subject(page=2)
    names: list[str] = []
    answer: list[str] | None = None
    remaining = iter(answers)
    while True:
        try:
            step = pages.send(answer)
        except StopIteration:
            break
        answer = next(remaining) if isinstance(step, Call) else names.extend(step)
    assert names == listed
    assert list(remaining) == []
