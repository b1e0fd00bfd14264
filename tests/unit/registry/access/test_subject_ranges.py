"""Lists contain exactly the readable subjects, for random prefixes, contexts and permissions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import Denied
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.current_caller import current_permissions
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.permissions import (
    Permission,
    Permissions,
    SubjectRange,
    explain_pattern_mistake,
    parse_prefix,
)
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.features.dependencies.service import WalkDirection
from contractlog.registry.features.routers import ROUTERS
from contractlog.registry.features.schemas import queries as schema_queries
from contractlog.registry.features.subjects import queries as subject_queries
from contractlog.registry.http.route_permissions import RoutePermissions
from contractlog.registry.settings import Settings
from contractlog.registry.storage.associations import AssociationFilter
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page

from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

STRING = {"schema": '{"type":"string"}'}
CONTEXTS = [".", ".e", ".eu", ".eu2"]
NAMES = ["a", "ab", "a:b", "b", ".eu", ":.e", ":a"]
SUBJECTS = [subject for context in CONTEXTS for name in NAMES if not (subject := Subject(context, name)).ambiguous]
BASE, LEANING = Subject(".", "base"), {"schema": '{"type":"array","items":"B"}'}
BASE_SCHEMA = {"schema": '{"type":"record","name":"B","fields":[]}'}
ADMIN = ("admin", "p")
PERMISSIONS = RoutePermissions(ROUTERS)
USERS = {
    "admin": ["*"],
    "default": [":.:*"],
    "a": ["a*"],
    "b": ["b"],
    "eu": [":.eu:*"],
    "eu-a": [":.eu:a*", "base"],
    "every-a": [":*:a*"],
    "every-b": [":*:b"],
    "mixed": ["a*", ":.e:*", ":*:.eu", "base"],
    "odd": [":.::a*", ":.:.e*"],
    "nothing": [],
}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A registry that has each subject, a schema in each context that depends on one, and associations."""
    file: Path = tmp_path_factory.mktemp("lists") / "users.toml"
    password = HashedPassword.of("p", n=2, r=1, p=1)
    file.write_text("\n".join(format_entry(name, password, [], rights) for name, rights in USERS.items()))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as http:
        reference = {"references": [{"name": "B", "subject": ":.:base", "version": 1}]}
        for subject, body in [(BASE, BASE_SCHEMA), *((one, LEANING | reference) for one in SUBJECTS)]:
            path = f"/subjects/{quote(str(subject), safe='')}/versions"
            assert http.post(path, json=body, auth=ADMIN).status_code == 200
        for number, subject in enumerate(SUBJECTS):
            resource = {
                "resourceName": f"topic{number % 3}",
                "resourceNamespace": f"n{number}",
                "resourceId": f"r{number}",
            }
            body = resource | {"associations": [{"subject": f":{subject.context}:{subject.name}"}]}
            assert http.post("/associations", json=body, auth=ADMIN).status_code == 200
        http.put("/config/a-alias", json={"alias": ":.eu:b"}, auth=ADMIN)
        yield http


names = st.text("ab:.eu2*", max_size=5)
qualified = st.builds("{}{}".format, st.sampled_from([":*:", *(f":{one}:" for one in CONTEXTS)]), names)
prefixes = names | qualified | st.sampled_from([":", ":.", ":.e", ":.eu", ":.eu2", ":.eu:", ":.:", ":*", "\0", ":.\0"])
patterns = st.builds("{}{}".format, names | qualified, st.sampled_from(["", "*"])).filter(
    lambda text: text and explain_pattern_mistake(text) is None
)
rights_of = st.builds(Permissions.of, st.lists(patterns, max_size=3), st.lists(patterns, max_size=2))


def members(prefix: str) -> list[Subject]:
    """Return subjects that a prefix stands for: every one that could be, up to what follows the prefix."""
    found = []
    for one in parse_prefix(prefix):
        for tail in ("", "z", "\N{SNOWMAN}"):
            contexts = [(one.context or "") + tail] if one.open else [one.context or f".other{tail}"]
            found += [Subject(context, one.start + tail) for context in contexts if context != "." or not one.open]
    return found


def permitted(rights: Permissions, path: str, prefix: str) -> bool:
    try:
        PERMISSIONS.require(rights, "GET", path, f"subjectPrefix={quote(prefix, safe='')}".encode())
    except Denied:
        return False
    return True


@given(rights_of, prefixes)
@example(Permissions.of([":.:*"], []), ":.")
@example(Permissions.of([":.:*"], []), ":.e")
@example(Permissions.of(["*"], []), ":.")
@settings(max_examples=150, deadline=None)
def test_a_prefix_lists_what_may_be_read_and_is_refused_only_for_what_may_not(
    http: httpx2.Client, rights: Permissions, prefix: str
) -> None:
    with http.app.state.services.store.open_snapshot() as snapshot:  # type: ignore[attr-defined]
        listed = [
            Subject.parse(name)
            for name in subject_queries.list_subjects(snapshot, prefix or ":*:", DeletedFilter.INCLUDED)
        ]
        shown = schema_queries.list_schemas(snapshot, schema_queries.SchemaFilter(prefix=prefix), Page(limit=1_000))
    for path, meant, subjects in (
        ("/subjects", prefix or ":*:", listed),
        ("/schemas", prefix, [one.subject for one in shown.versions]),
    ):
        every = [BASE, *SUBJECTS]
        assert sorted(subjects) == sorted(s for s in every if any(one.contains(s) for one in parse_prefix(meant)))
        if permitted(rights, path, prefix):
            assert all(rights.permits(Permission.READ, one) for one in subjects)
        else:
            denied = [one for one in members(meant) if not rights.permits(Permission.READ, one)]
            assert denied or not rights.permits_any(Permission.READ)


ranges = st.builds(SubjectRange, st.sampled_from([None, *CONTEXTS]), names) | st.builds(
    SubjectRange, st.sampled_from(CONTEXTS), names, st.just(value=True)
)


@given(ranges, ranges, st.builds(Subject, st.sampled_from([*CONTEXTS, ".x"]), names))
def test_a_range_within_another_has_no_subject_that_the_other_has_not(
    inner: SubjectRange, outer: SubjectRange, subject: Subject
) -> None:
    assert inner.within(inner)
    if inner.within(outer) and inner.contains(subject):
        assert outer.contains(subject)


def listings(services: Any) -> dict[str, tuple[Callable[[], Awaitable[list[Any]]], Callable[[Any], list[Subject]]]]:
    """Lists that are not refused as a whole, each with the subjects of which one must be readable to show an item."""

    def of_contexts(context: str) -> list[Subject]:
        return [one for one in [BASE, *SUBJECTS] if one.context == context]

    def of_binding(bound: Any) -> list[Subject]:
        one = bound.association
        return [one.subject, Subject(".", f"{one.resource_name}-{one.association_type}")]

    found: dict[str, Any] = {
        "contexts": (services.contexts.list_contexts, of_contexts),
        "associations": (lambda: services.associations.find(AssociationFilter()), of_binding),
    }
    for context in CONTEXTS:
        at = Subject(context, "")
        schema_id = 2 if context == "." else 1
        found |= {
            f"subjects {context}": (
                lambda at=at, number=schema_id: services.schemas.subjects(number, at, DeletedFilter.INCLUDED),
                lambda name: [Subject.parse(name)],
            ),
            f"versions {context}": (
                lambda at=at, number=schema_id: services.schemas.versions(number, at, DeletedFilter.INCLUDED),
                lambda holder: [holder.subject],
            ),
        }
    return found


@given(rights_of)
@settings(max_examples=30, deadline=None)
def test_lists_leave_out_exactly_what_may_not_be_read(http: httpx2.Client, rights: Permissions) -> None:
    services = http.app.state.services  # type: ignore[attr-defined]

    async def run() -> None:
        for name, (listed, subjects) in listings(services).items():
            everything = await listed()
            assert len(everything) > 1, name
            token = current_permissions.set(rights)
            try:
                shown = await listed()
            finally:
                current_permissions.reset(token)
            if name == "contexts":
                assert shown == [one for one in everything if rights.permits_in_context(Permission.READ, one)]
                readable = [one for one in everything if any(rights.permits(Permission.READ, s) for s in subjects(one))]
                assert set(readable) <= set(shown)
            else:
                assert shown == [
                    one for one in everything if any(rights.permits(Permission.READ, s) for s in subjects(one))
                ], name

    asyncio.run(run())


def encode_subjects(listed: Iterable[schema_queries.ListedSchema]) -> bytes:
    return json.dumps([str(one.schema.subject) for one in listed]).encode()


@given(rights_of)
@settings(max_examples=30, deadline=None)
def test_the_graph_and_aliases_lead_to_nothing_that_may_not_be_read(http: httpx2.Client, rights: Permissions) -> None:
    services = http.app.state.services  # type: ignore[attr-defined]
    around = services.dependencies.walk

    async def run() -> None:
        whole = await around(BASE, "", direction=WalkDirection.BOTH, depth=3)
        token = current_permissions.set(rights)
        try:
            graph = await around(BASE, "", direction=WalkDirection.BOTH, depth=3)
            shown = await services.schemas.list_schemas(
                schema_queries.SchemaFilter(prefix="a-", aliases=True), WHOLE_LIST, encode_subjects
            )
        finally:
            current_permissions.reset(token)
        readable = {
            one for one in whole.distance if one.subject == BASE or rights.permits(Permission.READ, one.subject)
        }
        assert set(graph.distance) == readable
        assert {one for edge in graph.edges for one in (edge.referrer, edge.target)} <= readable
        assert graph.truncated == (len(readable) < len(whole.distance))
        alias = Subject(".eu", "b")
        assert json.loads(shown) == [str(alias)] * rights.permits(Permission.READ, alias)

    asyncio.run(run())


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("prefix", ["", ":.", ":.e", ":.eu", ":.eu:", ":.:", ":*:", ":*:a", "a", ":.eu:a", ":a"])
def test_over_http_a_prefix_is_answered_whole_or_refused(http: httpx2.Client, user: str, prefix: str) -> None:
    rights = Permissions.of([], USERS[user])
    for path in ("/subjects", "/schemas"):
        answer = http.get(path, params={"subjectPrefix": prefix}, auth=(user, "p"))
        whole = http.get(path, params={"subjectPrefix": prefix}, auth=ADMIN).json()
        if answer.status_code == 200:
            assert answer.json() == whole
            subjects = [one if isinstance(one, str) else one["subject"] for one in whole]
            assert all(rights.permits(Permission.READ, Subject.parse(one)) for one in subjects)
        else:
            assert answer.json()["error_code"] == 40301


def test_over_http_lists_of_an_id_are_those_of_the_caller(http: httpx2.Client) -> None:
    auth = ("eu-a", "p")
    assert http.get("/contexts", auth=auth).json() == [".", ".eu"]
    for limit in (-1, 1):
        query = f"?subject=:.eu:&limit={limit}"
        shown = [":.eu:a", ":.eu:a:b", ":.eu:ab"][: limit if limit > 0 else None]
        assert http.get(f"/schemas/ids/1/subjects{query}", auth=auth).json() == shown
        assert [one["subject"] for one in http.get(f"/schemas/ids/1/versions{query}", auth=auth).json()] == shown
    guid = http.get("/schemas/ids/2", auth=ADMIN).json()["guid"]
    assert [one["context"] for one in http.get(f"/schemas/guids/{guid}/ids", auth=ADMIN).json()] == CONTEXTS
    assert [one["context"] for one in http.get(f"/schemas/guids/{guid}/ids", auth=auth).json()] == [".", ".eu"]
    asked = {"requests": [{"resourceName": "topic0"}]}
    batch = http.post("/associations:batchGet?includeSchemas=true", json=asked, auth=auth).json()["results"][0][
        "result"
    ]
    assert {one["subject"] for one in batch["associations"]} <= {":.eu:a", ":.eu:a:b", ":.eu:ab"}
    nodes = http.get("/contractlog/v1/graph/base", auth=auth).json()["nodes"]
    assert sorted(one["subject"] for one in nodes) == [":.eu:a", ":.eu:a:b", ":.eu:ab", "base"]
