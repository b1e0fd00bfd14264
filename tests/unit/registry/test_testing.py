"""The pytest plug-in, run by pytest itself as in a user's project."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from contractlog.clients import Registry
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.registry.testing import Registries

from support.deadlines import count_calls

pytest_plugins = ["pytester"]

#: A user's tests: each would fail if another one's registry were visible in it.
SUITE = """
import asyncio
import pytest
from contractlog.compatibility.errors import IncompatibleSchema, OperationNotPermitted, UsageError
from contractlog.compatibility.schema import SchemaDraft

FIRST = SchemaDraft('{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}')
BROKEN = SchemaDraft('{"type":"record","name":"Order","fields":[{"name":"total","type":"double"}]}')

@pytest.mark.parametrize("time", range(5))
def test_each_test_has_its_own_registry(schema_registry, time):
    assert schema_registry.subjects(deleted=True) == []
    assert schema_registry.contexts() == ["."]
    assert schema_registry.level() == "BACKWARD"
    assert schema_registry.changes()["head"] == 0
    registered = schema_registry.register("orders-value", FIRST)
    assert (registered.schema_id, registered.version) == (1, 1)
    schema_registry.set_level("NONE")
    schema_registry.register(":.eu:orders-value", BROKEN)

def test_compatibility_is_real(schema_registry):
    schema_registry.register("orders-value", FIRST)
    with pytest.raises(IncompatibleSchema, match="READER_FIELD_MISSING_DEFAULT_VALUE"):
        schema_registry.register("orders-value", BROKEN)
    assert not schema_registry.check("orders-value", BROKEN)

def test_modes_are_real(schema_registry):
    schema_registry.set_mode("READONLY")
    with pytest.raises(OperationNotPermitted):
        schema_registry.register("orders-value", FIRST)
    schema_registry.set_mode("IMPORT", force=True)
    assert schema_registry.register("orders-value", FIRST, schema_id=42, version=7).schema_id == 42

def test_contexts_are_real(schema_registry):
    inside = schema_registry.with_context("eu")
    assert inside.register("a", BROKEN).schema_id == schema_registry.register("a", FIRST).schema_id == 1
    assert inside.subjects() == [":.eu:a"]

def test_both_clients_and_the_app_are_one_registry(
    schema_registry, async_schema_registry, schema_registry_client, schema_registry_app
):
    schema_registry.register("a", FIRST)
    assert asyncio.run(async_schema_registry.versions("a")) == [1]
    assert schema_registry_client.get_versions("a") == [1]
    assert schema_registry_client.get_latest_version("a").schema_id == 1
    assert schema_registry_app.state.services.store is not None

def test_two_at_once(schema_registries, schema_registry):
    from contractlog.clients import Registry
    other = schema_registries.make({})
    with Registry(app=other) as second:
        second.register("a", FIRST)
        assert (second.subjects(), schema_registry.subjects()) == (["a"], [])
    other.state.close()

def test_settings_that_are_none_are_refused(schema_registries):
    with pytest.raises(ValueError, match="database_url"):
        schema_registries.make({"database_url": "sqlite:///theirs.db"})

class TestWords:
    @pytest.fixture
    def schema_registry_settings(self):
        return {"level": "full"}

    def test_words_are_read_as_those_of_the_environment(self, schema_registry, schema_registries):
        assert schema_registry.level() == "FULL"
        with pytest.raises(UsageError, match="level cannot be `FULLISH`: it takes one of NONE, BACKWARD"):
            schema_registries.make({"level": "FULLISH"})

class TestStrict:
    @pytest.fixture
    def schema_registry_settings(self):
        return {"mode_mutability": False}

    def test_settings_can_be_given(self, schema_registry):
        with pytest.raises(OperationNotPermitted, match="Mode changes are not allowed"):
            schema_registry.set_mode("READONLY")
"""


def test_pytest_finds_the_plug_in() -> None:
    found = [one.value for one in entry_points(group="pytest11") if one.name == "contractlog"]
    assert found == ["contractlog.registry.testing"]


def test_a_suite_of_users_passes_whole(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess("-q", "-W", "error", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=13)


def test_a_failure_in_one_test_leaves_the_next_one_an_empty_registry(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest
        from contractlog.compatibility.schema import SchemaDraft

        @pytest.mark.parametrize("time", range(3))
        def test_fails(schema_registry, time):
            assert schema_registry.subjects() == []
            schema_registry.register("a", SchemaDraft('"string"'))
            assert time == 2
    """)
    pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=1, failed=2)


def test_without_the_service_it_is_harmless_and_says_what_is_missing(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
        import sys
        sys.modules["fastapi"] = None  # as if it were not installed
    """)
    pytester.makepyfile("""
        def test_without(): pass
        def test_with(schema_registry): pass
    """)
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*pip install 'contractlog?server?'*"])


def test_loading_the_plug_in_loads_nothing_else() -> None:
    script = "import sys, pytest, {}; print(*sorted(sys.modules))"
    without, loaded = (
        subprocess.run([sys.executable, "-c", script.format(one)], check=True, capture_output=True, text=True)
        for one in ("os", "contractlog.registry.testing")
    )
    heavy = {"fastapi", "sqlalchemy", "httpx2", "pydantic", "starlette", "orjson", "msgspec"}
    names = set(loaded.stdout.split()) - set(without.stdout.split())
    assert not heavy & names
    ours = {name for name in names if name.startswith("contractlog")}
    assert ours <= {"contractlog", "contractlog.registry", "contractlog.registry.testing"}


def test_a_registry_takes_a_third_of_the_work_of_a_service(registries: Registries) -> None:
    """The seconds of both are printed by ``benchmarks/testing_fixture.py``."""

    def make_registry() -> None:
        app = registries.make({})
        with Registry(app=app):
            pass
        app.state.close()

    def make_service() -> None:
        app = create_app(Settings(database_url="sqlite://"))
        app.build_middleware_stack()
        app.state.close()

    make_registry()
    make_service()
    assert 3 * count_calls(make_registry) < count_calls(make_service)


GATE_SUITE = """
from dataclasses import dataclass
import pytest
from contractlog.compatibility.schema import SchemaDraft, SchemaType

FIRST = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
BROKEN = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"total","type":"double"}]}'
JSON = '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"id":{"type":"integer"}}}'

@dataclass
class Order:
    id: int

@dataclass
class Wider(Order):
    total: float = 0.0

@pytest.fixture
def gate(schema_registry, schema_gate):
    schema_registry.register("orders-value", SchemaDraft(FIRST))
    schema_registry.register("json-value", SchemaDraft(JSON, SchemaType.JSON))
    return schema_gate

def test_files_that_can_be_registered(gate, tmp_path):
    (tmp_path / "orders-value.avsc").write_text(FIRST)
    (tmp_path / "new-value.avsc").write_text(FIRST)
    gate.assert_compatible(tmp_path)
    assert gate.registry.subjects() == ["json-value", "orders-value"]

def test_a_file_that_cannot(gate, tmp_path):
    file = tmp_path / "orders-value.avsc"
    file.write_text(BROKEN)
    with pytest.raises(AssertionError) as caught:
        gate.assert_compatible(file)
    message = str(caught.value)
    assert f"{file}: incompatible with version 1 of `orders-value` at level BACKWARD" in message
    assert "the new schema cannot read what version 1 wrote" in message
    assert "fix: " in message
    gate.assert_compatible(file, subject="other-value")

def test_a_file_that_is_no_schema(gate, tmp_path):
    (tmp_path / "orders-value.avsc").write_text("{")
    with pytest.raises(AssertionError, match="orders-value.avsc:1:.*: the text is not JSON"):
        gate.assert_compatible(tmp_path)

@pytest.mark.parametrize("subject", ["orders-value", "json-value"])
def test_an_event_that_fits(gate, subject):
    read = gate.assert_serializable(Order(7), subject, from_dict=lambda value, ctx: Order(**value))
    assert read == Order(7)
    assert gate.assert_serializable({"id": 7}, subject) == {"id": 7}

@pytest.mark.parametrize("subject", ["orders-value", "json-value"])
def test_an_event_of_another_type(gate, subject):
    with pytest.raises(AssertionError, match=f"Order does not fit version 1 of `{subject}`: .*id"):
        gate.assert_serializable(Order("seven"), subject)

def test_an_event_with_a_field_that_the_schema_lacks(gate):
    with pytest.raises(AssertionError, match="Wider does not fit .*total"):
        gate.assert_serializable(Wider(7), "orders-value")

def test_an_event_that_comes_back_different(gate):
    with pytest.raises(AssertionError, match="returns Order.id=8. for Order.id=7."):
        gate.assert_serializable(Order(7), "orders-value", from_dict=lambda value, ctx: Order(value["id"] + 1))

def test_a_subject_without_versions(gate):
    with pytest.raises(AssertionError, match="`none-value` has no version: register its schema first"):
        gate.assert_serializable(Order(7), "none-value")
"""


CLASS_SUITE = """
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal
import pytest
from pydantic import BaseModel, Field
from contractlog.compatibility.schema import SchemaDraft, SchemaType

SCHEMA = '''
{"type":"record","name":"Order","fields":[
  {"name":"id","type":"long"},
  {"name":"state","type":{"type":"enum","name":"State","symbols":["OPEN","PAID"]}},
  {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
  {"name":"note","type":["null","string"],"default":null},
  {"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
    {"name":"sku","type":"string"},{"name":"next","type":["null","Line"],"default":null}]}}}]}'''
JSON = '''{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["id"],
  "additionalProperties":false,"properties":{"id":{"type":"integer"},"at":{"type":"string"}}}'''

class State(StrEnum):
    OPEN = "OPEN"
    PAID = "PAID"

@dataclass
class Line:
    sku: str
    next: "Line | None" = None

@dataclass
class Order:
    id: int
    state: Literal["OPEN", "PAID"]
    at: datetime
    note: str | None = None
    lines: list[Line] = field(default_factory=list)

class LineModel(BaseModel):
    sku: str
    next: "LineModel | None" = None

class OrderModel(BaseModel):
    id: int
    state: State
    at: datetime
    remark: str | None = Field(default=None, alias="note")
    lines: list[LineModel]

class Event(BaseModel):
    id: int
    at: datetime

@pytest.fixture
def gate(schema_registry, schema_gate):
    schema_registry.register("orders-value", SchemaDraft(SCHEMA))
    schema_registry.register("json-value", SchemaDraft(JSON, SchemaType.JSON))
    return schema_gate

@pytest.mark.parametrize("event_class", [Order, OrderModel])
def test_a_class_whose_every_alternative_fits(gate, event_class):
    read = gate.assert_serializable(event_class, "orders-value")
    assert {each["state"] for each in read} == {"OPEN", "PAID"}
    assert {each["note"] for each in read} == {"a", None}

def test_a_class_with_a_json_schema(gate):
    assert gate.assert_serializable(Event, "json-value") == [{"id": 1, "at": "2026-01-02T03:04:05Z"}]
    assert gate.assert_serializable(Event(id=7, at=datetime(2026, 1, 1)), "json-value")["id"] == 7

def test_an_alternative_that_the_schema_lacks(gate):
    @dataclass
    class Cancelled(Order):
        state: Literal["OPEN", "PAID", "CANCELLED"]
    with pytest.raises(AssertionError, match="Cancelled does not fit version 1 of `orders-value`: .*CANCELLED"):
        gate.assert_serializable(Cancelled, "orders-value")

@pytest.mark.parametrize("kind", [int | None, str])
def test_a_field_of_another_type(gate, kind):
    class Wrong(OrderModel):
        id: kind
    with pytest.raises(AssertionError, match="Wrong does not fit .*id"):
        gate.assert_serializable(Wrong, "orders-value")

def test_a_field_that_is_missing_on_one_side(gate):
    class Less(BaseModel):
        id: int
    class More(OrderModel):
        total: float
    for event_class, name in ((Less, "state"), (More, "total")):
        with pytest.raises(AssertionError, match=f"does not fit .*{name}"):
            gate.assert_serializable(event_class, "orders-value")

def test_a_class_without_example_values(gate):
    class Strict(OrderModel):
        id: int = Field(gt=100)
    @dataclass
    class Odd:
        id: complex
    for event_class in (Strict, Odd):
        with pytest.raises(AssertionError, match=f"(?s){event_class.__name__}.*; pass an instance in place of"):
            gate.assert_serializable(event_class, "orders-value")
"""


def test_event_classes_are_checked_in_each_of_their_alternatives(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONTRACTLOG_REGISTRY_URL", raising=False)
    pytester.makepyfile(CLASS_SUITE)
    result = pytester.runpytest_inprocess("-q", "-W", "error", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=8)


def test_schemas_and_events_are_checked(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTRACTLOG_REGISTRY_URL", raising=False)
    pytester.makepyfile(GATE_SUITE)
    result = pytester.runpytest_inprocess("-q", "-W", "error", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=10)


@pytest.mark.parametrize(
    ("arguments", "setting", "url"),
    [
        (["--contractlog-registry", "http://option:1"], "http://setting:2", "http://option:1"),
        ([], "http://setting:2", "http://setting:2"),
        ([], "", "http://variable:3"),
    ],
)
def test_the_registry_of_the_gate_is_chosen(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    setting: str,
    url: str,
) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://variable:3")
    pytester.makeini(f"[pytest]\ncontractlog_registry = {setting}\n")
    pytester.makepyfile(f"def test_gate(schema_gate): assert schema_gate.registry.url == '{url}'")
    pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider", *arguments).assert_outcomes(passed=1)


SETTING = "contractlog_registry = http://setting:2"


@pytest.mark.parametrize(
    ("setting", "variable", "arguments", "sent"),
    [
        (SETTING, "http://variable:3", [], False),
        ("addopts = --contractlog-registry=http://setting:2", "http://variable:3", [], False),
        (SETTING, "http://variable:3", ["--contractlog-registry", "http://setting:2"], True),
        (SETTING, "http://setting:2/", [], True),
        (SETTING, "", [], True),
    ],
)
def test_credentials_are_not_sent_to_a_registry_that_only_the_configuration_names(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    variable: str,
    arguments: list[str],
    *,
    sent: bool,
) -> None:
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", variable)
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_TOKEN", "secret")
    pytester.makeini(f"[pytest]\n{setting}\n")
    pytester.makepyfile("def test_gate(schema_gate): assert schema_gate.registry.url == 'http://setting:2'")
    result = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider", *arguments)
    result.assert_outcomes(passed=int(sent), errors=int(not sent))
    if not sent:
        result.stdout.fnmatch_lines(["only the configuration of pytest names the registry http://setting:2, and *"])
