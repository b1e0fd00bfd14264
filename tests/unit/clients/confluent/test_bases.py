"""Data classes are confluent-kafka's if its client is installed, otherwise equivalent ones."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from typing import Any, Final

import confluent_kafka.schema_registry as theirs
import pytest
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer

import contractlog.clients.confluent as ours

from support.confluent_bodies import BODIES, ENUMS, MODELS

SHARED: Final = [*MODELS, *ENUMS]
BLOCKED: Final = "import sys\nsys.modules['confluent_kafka.schema_registry'] = None\n"
OURS: Final = "import contractlog.clients.confluent as ours\n"
THEIRS: Final = "import confluent_kafka.schema_registry as theirs\n"
EQUAL: Final = """
one, other = ours.Schema('"string"', "AVRO"), theirs.Schema('"string"', "AVRO")
assert issubclass(ours.Schema, theirs.Schema) and isinstance(one, theirs.Schema) and one == other
"""
ERRORS: Final = """
from contractlog.clients.confluent.errors import OAuthTokenError, as_confluent_error
from contractlog.compatibility.errors import ContractlogError, SubjectNotFound
answer, token = as_confluent_error(SubjectNotFound(subject="s")), OAuthTokenError("no token", 401, "denied")
assert isinstance(answer, SubjectNotFound) and isinstance(answer, ours.SchemaRegistryError)
assert type(answer) is SubjectNotFound and answer.subject == "s"
assert str(answer) == "Subject 's' not found. (HTTP status code 404, SR code 40401)" == repr(answer)
assert str(SubjectNotFound(subject="s")) == "Subject 's' not found."
assert isinstance(token, ContractlogError) and str(token) == "no token (denied)"
assert (token.status_code, token.response_text) == (401, "denied")
"""
THEIRS_CATCH: Final = """
from confluent_kafka.schema_registry import error
assert issubclass(ours.SchemaRegistryError, error.SchemaRegistryError)
assert isinstance(answer, error.SchemaRegistryError) and isinstance(token, error.OAuthTokenError)
"""
SHOWN: Final = """
import inspect, json
shown = {}
for name, bodies in json.load(sys.stdin).items():
    kind = getattr(ours, name)
    assert kind.__module__.startswith("contractlog."), kind
    values = [kind.from_dict(body) for body in bodies]
    shown[name] = [[list(inspect.signature(kind).parameters), value.to_dict(), repr(value)] for value in values]
print(json.dumps(shown))
"""


def run(script: str, given: str = "") -> str:
    """Return what a fresh interpreter prints."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=given, timeout=240).stdout


@pytest.mark.parametrize("imports", [OURS + THEIRS, THEIRS + OURS], ids=["ours first", "theirs first"])
def test_either_package_may_be_imported_first(imports: str) -> None:
    run(imports + EQUAL + ERRORS + THEIRS_CATCH)


@pytest.mark.parametrize("missing", ["confluent_kafka", "confluent_kafka.schema_registry"])
def test_without_theirs_errors_are_ours(missing: str) -> None:
    run(f"import sys\nsys.modules[{missing!r}] = None\n" + OURS + ERRORS)


@pytest.mark.parametrize("name", SHARED)
def test_every_data_class_is_theirs(name: str) -> None:
    assert issubclass(getattr(ours, name), getattr(theirs.schema_registry_client, name))


def test_without_theirs_ours_have_the_same_shape() -> None:
    shown: dict[str, Any] = json.loads(run(BLOCKED + OURS + SHOWN, json.dumps(BODIES)))
    for name, bodies in BODIES.items():
        kind = getattr(theirs.schema_registry_client, name)
        for body, (arguments, written, text) in zip(bodies, shown[name], strict=True):
            value = kind.from_dict(body)
            assert arguments == list(inspect.signature(kind).parameters)
            assert (written, text) == (value.to_dict(), repr(value))


def test_the_serializers_of_confluent_kafka_accept_our_schema() -> None:
    client = theirs.SchemaRegistryClient.new_client({"url": "mock://sharing"})
    assert callable(AvroSerializer(client, ours.Schema('{"type":"record","name":"R","fields":[]}', "AVRO")))
    assert callable(JSONSerializer(ours.Schema('{"title":"R","type":"object"}', "JSON"), client))
