"""Code that catches confluent-kafka's exceptions also catches contractlog's."""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import permutations
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.errors import IncompatibleSchema, NotFound, RegistryError, SubjectNotFound
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.context import MessageField, SerializationContext
from contractlog.serdes.errors import (
    BadFrame,
    ContextMissing,
    DecodeError,
    EncodeError,
    ReaderMismatch,
    RuleConditionError,
    RuleError,
    RuleFailed,
    RuleNotRun,
    SchemaIdNotFound,
    SerializationError,
)

_ALONE = """
import sys
from contractlog.compatibility.errors import SubjectNotFound
from contractlog.serdes.errors import DecodeError
try:
    raise SubjectNotFound(subject="x")
except Exception as error:
    assert str(error) == "Subject 'x' not found.", error
assert str(DecodeError(reason="broken")) == "broken"
assert not [name for name in sys.modules if name.startswith("confluent_kafka")]
from confluent_kafka.serialization import SerializationError
try:
    raise DecodeError(reason="broken")
except SerializationError as error:
    print(repr(error))
"""


def caught_as(theirs: type[Exception], error: Exception) -> Exception | None:
    """What an ``except`` clause of theirs catches; it follows real inheritance alone."""
    try:
        raise error  # noqa: TRY301 -- to be caught by the clause below
    except theirs as caught:
        return caught
    except Exception:  # noqa: BLE001 -- the point is that theirs comes first
        return None


@pytest.mark.parametrize(
    "kind",
    [EncodeError, DecodeError, BadFrame, ReaderMismatch, RuleNotRun, RuleFailed, ContextMissing, SchemaIdNotFound],
)
def test_every_error_of_serializers_is_one_of_theirs(kind: type[SerializationError]) -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.serialization import SerializationError as Theirs

    error = kind(reason="it is broken", field="a", topic="orders")
    assert caught_as(Theirs, error) is error
    assert caught_as(KafkaException, error) is error
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert (type(again), str(again), again.facts) == (kind, str(error), error.facts)
    assert (error.topic, str(error).endswith("a: it is broken (topic orders)")) == ("orders", True)


@pytest.mark.parametrize("kind", [RuleError, RuleConditionError])
def test_failures_of_rules_are_theirs(kind: type[RuleError]) -> None:
    from confluent_kafka.schema_registry import serde

    error = kind("n is small")
    assert caught_as(getattr(serde, kind.__name__), error) is error
    assert caught_as(serde.RuleError, error) is error
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert (type(again), str(again)) == (kind, "n is small")


@pytest.mark.parametrize("error", [SubjectNotFound(subject="s"), IncompatibleSchema(subject="s", details="d")])
def test_every_error_of_a_registry_is_one_of_theirs(error: RegistryError) -> None:
    from confluent_kafka.schema_registry.error import SchemaRegistryError

    made: Any = caught_as(SchemaRegistryError, RegistryError.of(error.code, error.message))
    assert type(made) is type(error)
    facts = (made.http_status_code, made.error_code, made.error_message)
    assert facts == (error.http_status, error.code, error.message)
    assert str(made) == error.message
    assert repr(made) == f"{type(error).__name__}({error.message!r})"


def test_nothing_is_loaded_for_it() -> None:
    done = subprocess.run([sys.executable, "-c", _ALONE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("DecodeError('broken')\n", "")


RECORD = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'


def test_values_that_do_not_fit_are_caught_as_value_errors_and_type_errors(registry: Registry) -> None:
    serializer = AvroSerializer(registry, RECORD)
    context = SerializationContext("orders", MessageField.VALUE)
    for value in ({"a": "x"}, {"a": 2**31}, {}, 5):
        with pytest.raises(EncodeError) as caught:
            serializer(value, context)
        assert caught_as(ValueError, caught.value) is caught.value
        assert caught_as(TypeError, caught.value) is caught.value
    with pytest.raises(ContextMissing) as missing:
        serializer({"a": 1}, None)
    assert caught_as(ValueError, missing.value) is missing.value


def test_an_unknown_id_is_caught_as_the_answer_of_the_registry(registry: Registry) -> None:
    from confluent_kafka.schema_registry.error import SchemaRegistryError as Theirs

    from contractlog.clients.confluent import SchemaRegistryError as Ours

    deserializer = AvroDeserializer(registry)
    for _ in range(2):  # asked for, and kept
        with pytest.raises(SchemaIdNotFound) as caught:
            deserializer(b"\0\0\0\0\x63\2", SerializationContext("orders", MessageField.VALUE))
        error: Any = caught.value
        assert caught_as(Theirs, error) is error
        assert caught_as(Ours, error) is error
        assert (error.error_code, error.http_status_code) == (40403, 404)
        assert isinstance(error.__cause__, NotFound)
        assert error.error_message == str(error.__cause__)


def test_attributes_of_errors_can_be_set() -> None:
    for error in (SubjectNotFound(subject="s"), DecodeError(reason="broken"), SchemaIdNotFound(reason="unknown")):
        for name, value in (("error_code", 1), ("http_status_code", 2), ("error_message", "three"), ("mine", 4)):
            setattr(error, name, value)
            assert getattr(error, name) == value


_STEPS = {
    "theirs": "import confluent_kafka.schema_registry.error as theirs",
    "ours": "import contractlog.clients.confluent.errors as ours",
    "error": "SchemaIdNotFound()",
}
_BOTH = """
ours.SchemaRegistryError(404, 40401, "no")
try:
    raise SchemaIdNotFound()
except ours.SchemaRegistryError as error:
    assert isinstance(error, theirs.SchemaRegistryError)
"""


@pytest.mark.parametrize("order", list(permutations(_STEPS)), ids="-".join)
def test_an_unknown_id_is_of_both_classes_in_any_order_of_imports(order: tuple[str, ...]) -> None:
    steps = ["from contractlog.serdes.errors import SchemaIdNotFound", *(_STEPS[step] for step in order), _BOTH]
    subprocess.run([sys.executable, "-c", "\n".join(steps)], check=True, timeout=240)
