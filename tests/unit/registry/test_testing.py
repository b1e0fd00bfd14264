"""The plug-in that gives users' tests a registry: run by pytest itself, as a user's project would."""

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
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=1, failed=2)


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
