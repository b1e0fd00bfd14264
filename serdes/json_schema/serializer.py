"""JSON serializers and deserializers with the call signatures of confluent-kafka's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.serdes.deserializing import AsyncDeserializer, Deserializer, Deserializing, FromDict
from contractlog.serdes.json_schema.holding import Validation
from contractlog.serdes.json_schema.own import OwnJsonWriter
from contractlog.serdes.json_schema.plan import JsonReader, JsonWriter
from contractlog.serdes.json_schema.validator import title
from contractlog.serdes.reading import BodyReader
from contractlog.serdes.serializing import AsyncSerializer, Serializer, Serializing, ToDict
from contractlog.serdes.settings import (
    DeserializerOptions,
    DeserializerSettings,
    Reading,
    SerializerOptions,
    SerializerSettings,
)
from contractlog.serdes.source import draft_of
from contractlog.serdes.writing import BodyWriter

__all__ = [
    "AsyncJSONDeserializer",
    "AsyncJSONSerializer",
    "JSONDeserializer",
    "JSONDeserializerOptions",
    "JSONSerializer",
    "JSONSerializerOptions",
]

JsonEncode = Callable[[Any], str | bytes]
JsonDecode = Callable[[bytes], Any]

_WORDS = ("jsonschema-rs", "jsonschema")


class JSONSerializerOptions(SerializerOptions, total=False):
    """Keyword arguments of ``JSONSerializer``; each corresponds to a dotted key."""

    validate: bool  #: validate values against the schema (True)
    validate_formats: bool  #: assert ``format`` as well (False)
    validate_words: str  #: wording of errors: "jsonschema-rs" (the default) or "jsonschema"


class JSONDeserializerOptions(DeserializerOptions, total=False):
    """Keyword arguments of ``JSONDeserializer``; each corresponds to a dotted key."""

    validate: bool  #: validate values against the schema (True)
    validate_formats: bool  #: assert ``format`` as well (False)
    validate_words: str  #: wording of errors: "jsonschema-rs" (the default) or "jsonschema"


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """The JSON part of serializers."""

    validation: Validation | None
    encode: JsonEncode | None = None
    decode: JsonDecode | None = None

    type: ClassVar[SchemaType] = SchemaType.JSON

    def name(self, parsed: ParsedSchema) -> str | None:
        """Return the title of a schema."""
        return title(parsed)

    def writer(self, parsed: ParsedSchema) -> BodyWriter:
        """Prepare a schema for writing."""
        if self.encode is not None:
            return OwnJsonWriter(parsed, self.validation, self.encode)
        return JsonWriter(parsed, self.validation)

    def reader(self, writer: ParsedSchema, wanted: ParsedSchema | None) -> BodyReader:
        """Prepare a pair of schemas for reading."""
        return JsonReader(writer, wanted, self.validation, decode=self.decode)


class _JSONSerializing(Serializing):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_str: str | SchemaDraft | Any | None,
        schema_registry_client: Any,
        to_dict: ToDict | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any | None = None,
        json_encode: JsonEncode | None = None,
        **options: Unpack[JSONSerializerOptions],
    ) -> None:
        reading = Reading(conf, options, rule_conf=rule_conf, rule_registry=rule_registry)
        form = JsonFormat(_validation(reading), encode=json_encode)
        settings = SerializerSettings.take(reading)
        reading.end()
        super().__init__(schema_registry_client, draft_of(schema_str, form.type), to_dict, settings=settings, form=form)


class _JSONDeserializing(Deserializing):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_str: str | SchemaDraft | Any | None,
        from_dict: FromDict | None = None,
        schema_registry_client: Any | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any | None = None,
        json_decode: JsonDecode | None = None,
        **options: Unpack[JSONDeserializerOptions],
    ) -> None:
        reading = Reading(conf, options, rule_conf=rule_conf, rule_registry=rule_registry)
        form = JsonFormat(_validation(reading), decode=json_decode)
        settings = DeserializerSettings.take(reading)
        reading.end()
        super().__init__(
            schema_registry_client, draft_of(schema_str, form.type), from_dict, settings=settings, form=form
        )


class JSONSerializer(_JSONSerializing, Serializer):
    """Serializer of values to framed JSON.

    Usable as ``value.serializer`` of ``confluent_kafka.SerializingProducer``.

    Args:
        schema_str: the schema to write with: text, a draft, or a ``Schema`` of confluent-kafka; None to use the
            registry's.
        schema_registry_client: a ``Registry``, a client of confluent-kafka, or a ``FolderSource``.
        to_dict: converts an object to plain JSON values: ``(object, context) -> dict``.
        conf: dotted keys: those of confluent-kafka's serializer, and those of the keyword arguments.
        rule_conf: must be None or empty, as this release runs no rules.
        rule_registry: must be None or empty, too.
        json_encode: returns the text of a value, in place of ours; the text is what is validated.
        options: the settings of ``conf`` as keyword arguments, listed in ``JSONSerializerOptions``.

    Raises:
        ValueError: a setting is unknown, has the wrong type, or contradicts another.
        InvalidSchema: the text is no schema.
    """


class AsyncJSONSerializer(_JSONSerializing, AsyncSerializer):
    """``JSONSerializer`` for asyncio: it takes an ``AsyncRegistry``, and its calls are awaited.

    ``await AsyncJSONSerializer(…)`` is allowed, but not needed.
    """


class JSONDeserializer(_JSONDeserializing, Deserializer):
    """Deserializer of framed JSON.

    Usable as ``value.deserializer`` of ``confluent_kafka.DeserializingConsumer``. Values are validated against the
    schema that they were written with, and against ``schema_str`` too if it is given.

    Args:
        schema_str: another schema that values have to fit; None: none.
        from_dict: converts a dict to an object: ``(dict, context) -> object``.
        schema_registry_client: a ``Registry``, a client of confluent-kafka, or a ``FolderSource``; None: values are
            validated against ``schema_str`` alone, whatever their ids are.
        conf: dotted keys: those of confluent-kafka's deserializer, and those of the keyword arguments.
        rule_conf: must be None or empty, as this release runs no rules.
        rule_registry: must be None or empty, too.
        json_decode: returns the value of a text, in place of ours.
        options: the settings of ``conf`` as keyword arguments, listed in ``JSONDeserializerOptions``.

    Raises:
        ValueError: a setting is unknown, has the wrong type, or contradicts another.
        InvalidSchema: the text is no schema.
    """


class AsyncJSONDeserializer(_JSONDeserializing, AsyncDeserializer):
    """``JSONDeserializer`` for asyncio: it takes an ``AsyncRegistry``, and its calls are awaited.

    ``await AsyncJSONDeserializer(…)`` is allowed, but not needed.
    """


def _validation(reading: Reading) -> Validation | None:
    asked = reading.flag("validate", default=True)
    formats = reading.flag("validate.formats", default=False)
    words = reading.choice("validate.words", _WORDS)
    return Validation(formats=formats, words=words) if asked else None
