"""Every method of the client against the real service, and every error class."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, CompatibilityResult, Registry
from contractlog.compatibility import errors
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.contracts.audit.report import TopicPart
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings


def order(*fields: dict[str, Any]) -> SchemaDraft:
    first = {"name": "id", "type": "long"}
    return SchemaDraft(json.dumps({"type": "record", "name": "Order", "fields": [first, *fields]}))


FIRST = order()
NOTED = order({"name": "note", "type": ["null", "string"], "default": None})
BROKEN = order({"name": "total", "type": "double"})
ADDRESS = SchemaDraft('{"type":"record","name":"Address","fields":[]}')
CITY = SchemaDraft('{"type":"enum","name":"City","symbols":["A"]}')


def conformance(topic: str, part: str = "value", *, to_offset: int = 10) -> TopicPart:
    counts = {"records": to_offset, "conforming": to_offset, "violating": 0, "tombstones": 0, "absent": 0}
    return {
        "topic": topic,
        "part": part,
        "verdict": "passing",
        "conformance": 1.0,
        **counts,
        "partitions": [{"partition": 0, "from_offset": 0, "to_offset": to_offset, **counts}],
        "schemas": [],
        "violations": [],
        "series": [],
        "fields": [],
        "notes": [],
    }  # type: ignore[return-value,typeddict-item]


def test_a_registration_returns_what_the_registry_holds(registry: Registry) -> None:
    registered = registry.register("orders-value", FIRST)
    assert (registered.schema_id, registered.version, registered.subject) == (1, 1, Subject(".", "orders-value"))
    assert registered.guid
    assert json.loads(registered.text) == json.loads(FIRST.text)
    again = registry.register(Subject.parse("orders-value"), FIRST)
    assert (again.schema_id, again.version) == (1, 1)


def test_one_content_is_found_in_every_way(registry: Registry) -> None:
    registered = registry.register("orders-value", FIRST)
    found = [
        registry.lookup("orders-value", FIRST),
        registry.lookup("orders-value", FIRST, normalize=True, deleted=True),
        registry.schema_by_id(registered.schema_id),
        registry.schema_by_id(registered.schema_id, subject="orders-value"),
        registry.version("orders-value", 1),
        registry.version("orders-value", "latest"),
    ]
    assert {(schema.schema_id, schema.text, schema.guid, schema.type) for schema in found} == {
        (registered.schema_id, registered.text, registered.guid, SchemaType.AVRO)
    }
    assert registry.versions_of_id(registered.schema_id) == [("orders-value", 1)]


def test_lists_are_lists(registry: Registry) -> None:
    registry.register("a-value", FIRST)
    registry.register("a-value", NOTED)
    registry.register(":.ctx:b-value", FIRST)
    assert registry.versions("a-value") == [1, 2]
    assert registry.subjects() == [":.ctx:b-value", "a-value"]
    assert registry.subjects(prefix="a") == ["a-value"]
    assert registry.contexts() == [".", ".ctx"]
    assert set(registry.types()) == {"AVRO", "JSON"}


def test_deletion_is_soft_first(registry: Registry) -> None:
    registered = registry.register("a", FIRST)
    registry.register("a", NOTED)
    assert registry.delete_version("a", 1) == 1
    assert registry.versions("a") == [2]
    assert registry.versions("a", deleted=True) == [1, 2]
    assert registry.version("a", 1, deleted=True).deleted
    assert registry.versions_of_id(registered.schema_id, deleted=True) == [("a", 1)]
    assert registry.delete_version("a", 1, permanent=True) == 1
    assert registry.delete_subject("a") == [2]
    assert (registry.subjects(), registry.subjects(deleted=True)) == ([], ["a"])
    assert registry.delete_subject("a", permanent=True) == [2]
    assert registry.subjects(deleted=True) == []


def test_compatibility_answers_have_reasons(registry: Registry) -> None:
    registry.register("a", FIRST)
    registry.register("a", NOTED)
    assert registry.check("a", NOTED) == CompatibilityResult(compatible=True)
    for version in (None, "latest", 1):
        answer = registry.check("a", BROKEN, version=version, normalize=True)  # type: ignore[arg-type]
        assert not answer
        assert "READER_FIELD_MISSING_DEFAULT_VALUE" in answer.messages[0]
    assert registry.check("unknown", BROKEN)


def test_levels_are_inherited_set_and_dropped(registry: Registry) -> None:
    assert registry.level() is Level.BACKWARD
    assert registry.level("a") is Level.BACKWARD
    assert registry.set_level("full", "a") is Level.FULL
    assert registry.level("a", inherited=False) is Level.FULL
    assert registry.set_level(Level.NONE) is Level.NONE
    assert registry.level() is registry.level("b") is Level.NONE
    assert registry.delete_level("a") is Level.FULL
    assert registry.level("a") is Level.NONE
    registry.delete_level()
    assert registry.level() is Level.BACKWARD


def test_modes_are_inherited_and_set(registry: Registry) -> None:
    assert registry.mode() is registry.mode("a") is Mode.READWRITE
    assert registry.set_mode("readonly", "a") is Mode.READONLY
    assert (registry.mode("a"), registry.mode()) == (Mode.READONLY, Mode.READWRITE)


def test_references_are_followed_in_the_order_that_parsing_wants(registry: Registry) -> None:
    registry.register("city", CITY)
    address = SchemaDraft(
        '{"type":"record","name":"Address","fields":[{"name":"c","type":"City"}]}',
        references=(Reference("City", "city", 1),),
    )
    registry.register("address", address)
    draft = SchemaDraft(
        '{"type":"record","name":"Order","fields":[{"name":"to","type":"Address"}]}',
        references=(Reference("Address", "address", -1),),
    )
    texts = registry.referenced(draft)
    assert list(texts) == ["City", "Address"]
    assert parse_schema(draft, texts).canonical
    registered = registry.register("orders-value", draft)
    assert registry.schema_by_id(registered.schema_id).references == (Reference("Address", "address", 1),)
    assert registry.referenced_by("address", 1) == [registered.schema_id]
    assert registry.referenced(FIRST) == {}


def test_conformance_is_published_and_read_back(registry: Registry) -> None:
    topic = "orders.v1"
    published = registry.publish_conformance(topic, conformance(topic))
    assert published["recorded_at"]
    registry.publish_conformance(topic, conformance(topic, to_offset=20))
    registry.publish_conformance(topic, conformance(topic, "key"))
    assert {(entry["part"], entry["records"]) for entry in registry.conformance(topic)} == {("value", 20), ("key", 10)}
    assert [entry["records"] for entry in registry.conformance(topic, part="value")] == [20]
    history = registry.conformance_history(topic)
    assert [(entry["part"], entry["records"]) for entry in history] == [("key", 10), ("value", 20), ("value", 10)]
    assert [entry["records"] for entry in registry.conformance_history(topic, part="value", limit=1)] == [20]


@pytest.mark.parametrize("name", ["a/b", "../..", "..", ".", "ü €", "100%", "a:b:c", "?#&+=", ":.c:a/b", "a b"])
def test_a_subject_of_any_letters_is_one_subject(registry: Registry, name: str) -> None:
    registry.register(name, FIRST)
    assert registry.subjects() == [name]
    assert registry.versions(name) == [1]
    assert registry.version(name, 1).subject == Subject.parse(name)
    assert registry.delete_subject(name) == [1]


def test_a_json_schema_keeps_its_type(registry: Registry) -> None:
    draft = SchemaDraft('{"type":"object"}', SchemaType.JSON)
    registered = registry.register("a", draft)
    assert registry.schema_by_id(registered.schema_id).draft == draft


def test_text_of_any_letters_survives(registry: Registry) -> None:
    draft = SchemaDraft(json.dumps({"type": "fixed", "name": "F", "size": 1, "doc": 'ü € 𝄞 \u2028 \\ "'}))
    registered = registry.register("a", draft)
    assert json.loads(registry.schema_by_id(registered.schema_id).text)["doc"] == 'ü € 𝄞 \u2028 \\ "'


def leaned_on(registry: Registry) -> None:
    registry.register("leaned-on", ADDRESS)
    draft = SchemaDraft(
        '{"type":"record","name":"O","fields":[{"name":"to","type":"Address"}]}',
        references=(Reference("Address", "leaned-on", 1),),
    )
    registry.register("leaning", draft)
    registry.delete_version("leaned-on", 1)


def twice(registry: Registry) -> None:
    registry.delete_subject("known")
    registry.delete_subject("known")


def twice_one_version(registry: Registry) -> None:
    registry.register("known", NOTED)
    registry.delete_version("known", 1)
    registry.delete_version("known", 1)


def read_only(registry: Registry) -> None:
    registry.set_mode("READONLY", "closed")
    registry.register("closed", FIRST)


@pytest.mark.parametrize(
    ("provoke", "kind"),
    [
        (lambda r: r.versions("unknown"), errors.SubjectNotFound),
        (lambda r: r.version("unknown", "latest"), errors.SubjectNotFound),
        (lambda r: r.delete_subject("unknown"), errors.SubjectNotFound),
        (lambda r: r.lookup("unknown", FIRST), errors.SubjectNotFound),
        (lambda r: r.version("known", 7), errors.VersionNotFound),
        (lambda r: r.check("known", FIRST, version=7), errors.VersionNotFound),
        (lambda r: r.version("known", 0), errors.InvalidVersion),
        (lambda r: r.schema_by_id(4711), errors.SchemaNotFound),
        (lambda r: r.versions_of_id(4711), errors.SchemaNotFound),
        (lambda r: r.lookup("known", NOTED), errors.SchemaNotFound),
        (twice, errors.SubjectSoftDeleted),
        (lambda r: r.delete_subject("known", permanent=True), errors.SubjectNotSoftDeleted),
        (twice_one_version, errors.VersionSoftDeleted),
        (lambda r: r.delete_version("known", 1, permanent=True), errors.VersionNotSoftDeleted),
        (lambda r: r.level("known", inherited=False), errors.LevelNotConfigured),
        (lambda r: r.register("known", BROKEN), errors.IncompatibleSchema),
        (lambda r: r.register("known", SchemaDraft("{")), errors.InvalidSchema),
        (lambda r: r.register("known", SchemaDraft("[" * 10_000)), errors.InvalidSchema),
        (lambda r: r.register("known", SchemaDraft("message M {}", SchemaType.PROTOBUF)), errors.InvalidSchema),
        (lambda r: r.register("known", SchemaDraft('"' + "x" * 5_000_000 + '"')), errors.PayloadTooLarge),
        (lambda r: r.register("con\x00trol", FIRST), errors.InvalidSubject),
        (lambda r: r.send(r_call("PUT", ("config", "known"), {"compatibility": "X"})), errors.InvalidLevel),
        (lambda r: r.send(r_call("PUT", ("mode", "known"), {"mode": "X"})), errors.InvalidMode),
        (lambda r: r.send(r_call("GET", ("nowhere",))), errors.NotFound),
        (lambda r: r.send(r_call("DELETE", ("subjects",))), errors.MethodNotAllowed),
        (read_only, errors.OperationNotPermitted),
        (leaned_on, errors.ReferenceExists),
        (lambda r: r.conformance("unaudited"), errors.ConformanceNotFound),
        (lambda r: r.conformance_history("unaudited"), errors.ConformanceNotFound),
        (lambda r: r.publish_conformance("t", {"topic": "t"}), errors.InvalidConformance),
    ],
)
def test_the_client_raises_the_errors_of_the_service(
    registry: Registry, provoke: Any, kind: type[errors.RegistryError]
) -> None:
    registry.register("known", FIRST)
    with pytest.raises(kind) as caught:
        provoke(registry)
    assert caught.value.error_code == kind.code
    assert str(caught.value)


def r_call(method: str, segments: tuple[str, ...], body: Any = None) -> Any:
    from contractlog.clients.calls import Call

    return Call(method, segments, lambda answer: answer, body=body)


def test_the_reasons_of_a_refusal_are_in_its_words(registry: Registry) -> None:
    registry.register("known", FIRST)
    with pytest.raises(errors.IncompatibleSchema, match="READER_FIELD_MISSING_DEFAULT_VALUE"):
        registry.register("known", BROKEN)


def test_the_asynchronous_twin_walks_the_same_way() -> None:
    async def journey() -> None:
        app = create_app(Settings(database_url="sqlite://"))
        async with AsyncRegistry(app=app) as registry:
            registered = await registry.register("a", FIRST)
            assert (await registry.schema_by_id(registered.schema_id)).text == registered.text
            assert await registry.versions("a") == [1]
            assert (await registry.version("a", "latest")).schema_id == registered.schema_id
            assert not await registry.check("a", BROKEN)
            assert await registry.level("a") is Level.BACKWARD
            assert await registry.referenced(SchemaDraft("", references=(Reference("n", "a", 1),))) == {
                "n": registered.text
            }
            await registry.publish_conformance("t", conformance("t"))
            assert len(await registry.conformance("t")) == 1
            with pytest.raises(errors.IncompatibleSchema):
                await registry.register("a", BROKEN)
            found = await asyncio.gather(*(registry.version("a", 1) for _ in range(20)))
            assert {schema.schema_id for schema in found} == {registered.schema_id}
        app.state.close()

    asyncio.run(journey())


def test_both_clients_answer_alike() -> None:
    app = create_app(Settings(database_url="sqlite://"))
    asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("set_level", ("FULL", "a"), {}),
        ("register", ("a", FIRST), {}),
        ("lookup", ("a", FIRST), {"deleted": True}),
        ("schema_by_id", (1,), {"subject": "a"}),
        ("version", ("a", "latest"), {}),
        ("versions", ("a",), {"deleted": True}),
        ("subjects", (), {"prefix": "a"}),
        ("versions_of_id", (1,), {}),
        ("referenced_by", ("a", 1), {}),
        ("check", ("a", BROKEN), {"version": 1}),
        ("level", ("a",), {"inherited": False}),
        ("set_mode", ("READWRITE", "a"), {}),
        ("mode", ("a",), {}),
        ("types", (), {}),
        ("contexts", (), {}),
        ("referenced", (FIRST,), {"subject": "a"}),
        ("publish_conformance", ("t", conformance("t")), {}),
        ("conformance", ("t",), {"part": "value"}),
        ("conformance_history", ("t",), {"part": "value"}),
    ]

    async def twin() -> list[Any]:
        async with AsyncRegistry(app=app) as registry:
            return [await getattr(registry, name)(*arguments, **options) for name, arguments, options in asked]

    with Registry(app=app) as registry:
        first = [getattr(registry, name)(*arguments, **options) for name, arguments, options in asked]
        second = asyncio.run(twin())
        for (name, *_), one, other in zip(asked, first, second, strict=True):
            assert without_time(one) == without_time(other), name
        assert asyncio.run(deletions(app)) == (Level.FULL, 1, [2])
    app.state.close()


def without_time(value: Any) -> Any:
    """Leave out when something was recorded: the two clients asked one after the other."""
    if isinstance(value, RegisteredSchema):
        return replace(value, timestamp=None)
    if isinstance(value, list):
        return [without_time(item) for item in value]
    return {k: v for k, v in value.items() if k != "recorded_at"} if isinstance(value, dict) else value


async def deletions(app: Any) -> tuple[Level | None, int, list[int]]:
    async with AsyncRegistry(app=app) as registry:
        assert registry.url
        await registry.register("a", NOTED)
        return (
            await registry.delete_level("a"),
            await registry.delete_version("a", 1),
            await registry.delete_subject("a"),
        )
