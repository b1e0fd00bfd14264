"""Strings as keys and values, and the names of the reference's module."""

from __future__ import annotations

from typing import Any

import confluent_kafka.serialization as theirs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog import serdes
from contractlog.serdes import (
    Deserializer,
    SerializationContext,
    SerializationError,
    Serializer,
    StringDeserializer,
    StringSerializer,
)

KEY = SerializationContext("orders", "key")
CODECS = ["utf_8", "utf_16", "latin-1"]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text() | st.none(), st.sampled_from(CODECS))
def test_texts_are_the_bytes_of_the_reference(text: str | None, codec: str) -> None:
    write: Serializer = StringSerializer(codec)
    read: Deserializer = StringDeserializer(codec)
    their_context: Any = theirs.SerializationContext("orders", theirs.MessageField.KEY)
    try:
        record = theirs.StringSerializer(codec)(text, their_context)
    except theirs.SerializationError:
        with pytest.raises(SerializationError, match="topic orders"):
            write(text, KEY)
    else:
        assert write(text, KEY) == record
        assert read(record, KEY) == theirs.StringDeserializer(codec)(record, their_context) == text


def test_values_that_are_not_strings_raise_an_error() -> None:
    for call in (lambda: StringSerializer()("\ud800", KEY), lambda: StringSerializer()(7, KEY)):  # type: ignore[arg-type]
        with pytest.raises(SerializationError, match="topic orders"):
            call()
    with pytest.raises(theirs.SerializationError):
        StringDeserializer()(b"\xff", KEY)
    with pytest.raises(LookupError):
        StringSerializer("no such codec")


def test_the_names_of_the_reference_are_there_but_for_those_of_numbers() -> None:
    there = {name for name in theirs.__all__ if not name.startswith(("Double", "Integer"))}
    assert {name for name in there if hasattr(serdes, name)} == set(serdes.__all__)
    assert not hasattr(serdes, "no_such_name")
