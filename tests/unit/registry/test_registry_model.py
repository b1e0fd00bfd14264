"""Random histories of writes, in which service and model have the same responses and state."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import create_engine, insert, text

from contractlog.registry.storage import tables
from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.store_values import CHANGE_LOG_COUNTER

from support.registry_model.comparison import OPERATIONS
from support.registry_model.faults import FAULTS
from support.registry_model.machine import Coverage, RegistryMachine
from support.registry_model.scenarios import SCENARIOS

DOCUMENT: Final = yaml.safe_load((Path(__file__).parents[3] / "openapi.yaml").read_text())
WRITING: Final = frozenset({"post", "put", "delete"})
#: Operations of these methods that write nothing, or nothing that the model is about.
LEFT_OUT: Final = {
    "POST /": "does nothing",
    "POST /compatibility/subjects/{subject}/versions": "judges, and writes nothing",
    "POST /compatibility/subjects/{subject}/versions/{version}": "judges, and writes nothing",
    "POST /associations:batchGet": "reads",
}
#: Members of bodies that the machine never sends.
UNSENT: Final = {
    "compatibilityLevel": "the same as compatibility, by another name",
    "contractlogPolicy": "our own, about JSON schemas alone",
    "strictJsonSchemas": "our own, about JSON schemas alone",
}
#: Questions that it never asks.
UNASKED: Final = {
    "POST /subjects/{subject}/versions": {"format": "shows the same otherwise"},
    "POST /subjects/{subject}": {"format": "shows the same otherwise"},
    "DELETE /associations/resources/{resource}": {"resourceType": "there is one", "lifecycle": "is for reading"},
}


def run(steps: int, examples: int, **options: Any) -> Coverage:
    RegistryMachine.coverage = Coverage()
    limits = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        **options,
    )
    run_state_machine_as_test(RegistryMachine, settings=limits)
    return RegistryMachine.coverage


def writing() -> dict[str, dict[str, Any]]:
    """Return the reference's operations that write schemas, settings or associations."""
    return {
        f"{method.upper()} {path}": operation
        for path, operations in DOCUMENT["paths"].items()
        if not path.startswith(("/contractlog/", "/dek-registry/"))  # keys have tests of their own
        for method, operation in operations.items()
        if method in WRITING and f"{method.upper()} {path}" not in LEFT_OUT
    }


def asked(operation: dict[str, Any]) -> set[str]:
    """Return the names of an operation's questions."""
    return {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}


def bodies(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of its bodies."""
    return [kind["schema"] for kind in operation.get("requestBody", {}).get("content", {}).values()]


def members(schema: Any, met: set[str]) -> set[str]:
    """Return the names of a body's members, at whatever depth."""
    found: set[str] = set()
    if isinstance(schema, list):
        return found.union(*(members(one, met) for one in schema))
    if not isinstance(schema, dict):
        return found
    reference = schema.get("$ref")
    if reference is not None and reference not in met:
        met.add(reference)
        found |= members(DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]], met)
    found |= set(schema.get("properties", ()))
    for part in ("properties", "items", "anyOf", "oneOf"):
        inner = schema.get(part)
        found |= members(list(inner.values()) if part == "properties" and inner else inner, met)
    return found


def test_every_operation_that_writes_is_called_or_left_out_for_a_reason() -> None:
    assert set(writing()) == OPERATIONS
    operations = {f"{m.upper()} {path}" for path, found in DOCUMENT["paths"].items() for m in found}
    assert set(LEFT_OUT) <= operations
    assert set(UNSENT) <= set().union(*(members(bodies(one), set()) for one in writing().values()))
    for operation, names in UNASKED.items():
        assert set(names) <= asked(writing()[operation]), operation


def play_every_scene() -> None:
    for scene, subject in zip(SCENARIOS, cycle(["a", ":.eu:a"]), strict=False):
        agreement = RegistryMachine()
        try:
            for _ in range(2):
                scene(agreement, subject)
                agreement.states_are_equal()
        finally:
            agreement.teardown()


def test_the_service_and_the_model_agree_in_every_scene() -> None:
    play_every_scene()


def test_the_service_and_the_model_agree() -> None:
    seen = run(steps=30, examples=7, derandomize=True)
    assert len(seen.answers) >= 30
    assert len(seen.codes) >= 12


@pytest.mark.slow
def test_the_service_and_the_model_agree_for_long() -> None:
    seen = run(steps=40, examples=60)
    play_every_scene()
    print(f"{sum(seen.answers.values())} calls, {len(seen.answers)} kinds of answers")  # noqa: T201 - how far it came
    everywhere = {member for _, member in seen.members}
    for name, operation in writing().items():
        sent = {member for one, member in seen.members if one == name}
        assert asked(operation) - sent == set(UNASKED.get(name, ())), name
        assert members(bodies(operation), set()) - everywhere <= set(UNSENT), name
        assert {(name, status) for status in (200, 204, 207)} & set(seen.answers), f"{name} never succeeded"
    assert seen.codes >= {40401, 40402, 40403, 40404, 40405, 40406, 40407, 40410, 40901, 40907}
    assert seen.codes >= {42201, 42204, 42205, 42206, 42210, 42211, 42212}


@pytest.mark.slow
@pytest.mark.integration
def test_the_service_and_the_model_agree_on_postgresql(
    upgraded_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    engine = create_engine(parse_url(upgraded_postgres_url))

    def emptied() -> str:
        with engine.begin() as connection:
            names = ", ".join(f'"{name}"' for name in tables.metadata.tables)
            connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
            connection.execute(insert(tables.contexts).values(name=".", next_schema_id=1))
            connection.execute(insert(tables.change_log_counters).values(name=CHANGE_LOG_COUNTER, next_sequence=1))
        return upgraded_postgres_url

    monkeypatch.setattr(RegistryMachine, "database", staticmethod(emptied))
    assert len(run(steps=30, examples=25).codes) >= 15
    engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_model_notices_what_is_wrong_with_a_service(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)

    def tried() -> None:
        play_every_scene()
        run(steps=30, examples=20, derandomize=True, phases=[Phase.generate])

    with pytest.raises(AssertionError):
        tried()
