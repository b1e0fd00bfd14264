"""JSON serializers, deserializers and their builders, with confluent-kafka's call signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.serdes.deserializer import AsyncDeserializer, DeserializerBase, FromDict, SyncDeserializer
from contractlog.serdes.errors import DecodeError
from contractlog.serdes.json_schema.document_validator import DocumentValidator, ValidationSettings
from contractlog.serdes.json_schema.field_rules import json_field_rules
from contractlog.serdes.json_schema.inline_constraints import json_constraints
from contractlog.serdes.json_schema.readers_and_writers import CustomJsonWriter, JsonReader, JsonWriter
from contractlog.serdes.json_schema.schema_preparation import find_title
from contractlog.serdes.read_planner import BodyReader
from contractlog.serdes.rules.field_rules import FieldRules
from contractlog.serdes.rules.inline_rules import Constraints
from contractlog.serdes.schema_source import to_draft
from contractlog.serdes.serde_builders import AsyncBuilder, DeserializerBuilder, SerializerBuilder, SyncBuilder
from contractlog.serdes.serializer import AsyncSerializer, SerializerBase, SyncSerializer, ToDict
from contractlog.serdes.settings import (
    DeserializerOptions,
    DeserializerSettings,
    SerializerOptions,
    SerializerSettings,
    SettingsReader,
)
from contractlog.serdes.write_planner import BodyWriter

__all__ = [
    "AsyncJSONDeserializer",
    "AsyncJSONDeserializerBuilder",
    "AsyncJSONSerializer",
    "AsyncJSONSerializerBuilder",
    "JSONDeserializer",
    "JSONDeserializerBuilder",
    "JSONDeserializerOptions",
    "JSONSerializer",
    "JSONSerializerBuilder",
    "JSONSerializerOptions",
]

JsonEncode = Callable[[Any], str | bytes]
JsonDecode = Callable[[bytes], Any]

_WORDINGS = ("jsonschema-rs", "jsonschema")


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

    validation: ValidationSettings | None
    encode: JsonEncode | None = None
    decode: JsonDecode | None = None

    type: ClassVar[SchemaType] = SchemaType.JSON

    def name(self, parsed: ParsedSchema) -> str | None:
        """Return the title of a schema."""
        return find_title(parsed)

    def writer(self, parsed: ParsedSchema) -> BodyWriter:
        """Prepare a schema for writing."""
        if self.encode is not None:
            return CustomJsonWriter(parsed, self.validation, self.encode)
        return JsonWriter(parsed, self.validation)

    def reader(self, writer: ParsedSchema, reader_schema: ParsedSchema | None) -> BodyReader:
        """Prepare a pair of schemas for reading."""
        return JsonReader(writer, reader_schema, self.validation, decode=self.decode)

    def field_rules(self, parsed: ParsedSchema, metadata: Metadata | None) -> FieldRules:
        """Return the application of rules to the properties of a schema."""
        return json_field_rules(parsed, metadata)

    def inline_constraints(self, parsed: ParsedSchema) -> Constraints | None:
        """Return the inline constraints of a schema, if it has any."""
        return json_constraints(parsed)

    def checker(self, parsed: ParsedSchema) -> Callable[[Any], None] | None:
        """Return a function that checks the values that rules have given; None without validation."""
        if self.validation is None:
            return None
        validator = DocumentValidator(parsed, self.validation)
        return lambda value: validator.require_valid(value, DecodeError)


class _JSONSerializerBase(SerializerBase):
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
        reader = SettingsReader(conf, options, rule_conf, rule_registry)
        json_format = JsonFormat(_read_validation(reader), encode=json_encode)
        settings = SerializerSettings.read(reader)
        reader.reject_unknown()
        super().__init__(
            schema_registry_client, to_draft(schema_str, json_format.type), to_dict, settings=settings, form=json_format
        )


class _JSONDeserializerBase(DeserializerBase):
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
        reader = SettingsReader(conf, options, rule_conf, rule_registry)
        json_format = JsonFormat(_read_validation(reader), decode=json_decode)
        settings = DeserializerSettings.read(reader)
        reader.reject_unknown()
        super().__init__(
            schema_registry_client,
            to_draft(schema_str, json_format.type),
            from_dict,
            settings=settings,
            form=json_format,
        )


class JSONSerializer(_JSONSerializerBase, SyncSerializer):
    """Serializer of values to framed JSON.

    Usable as ``value.serializer`` of ``confluent_kafka.SerializingProducer``.

    Args:
        schema_str: the schema to write with: text, a draft, or a ``Schema`` of confluent-kafka; None to use the
            registry's.
        schema_registry_client: a ``Registry``, a client of confluent-kafka, or a ``FolderSource``.
        to_dict: converts an object to plain JSON values: ``(object, context) -> dict``.
        conf: dotted keys: those of confluent-kafka's serializer, and those of the keyword arguments.
        rule_conf: configuration of rule executors and actions, such as ``dlq.topic``.
        rule_registry: a ``RuleRegistry``, ours or confluent-kafka's, with further executors and actions; None: the
            global one.
        json_encode: returns the text of a value, in place of ours; the text is what is validated.
        options: the settings of ``conf`` as keyword arguments, listed in ``JSONSerializerOptions``.

    Raises:
        ValueError: a setting is unknown, has the wrong type, or contradicts another.
        InvalidSchema: the text is no schema.
    """


class AsyncJSONSerializer(_JSONSerializerBase, AsyncSerializer):
    """``JSONSerializer`` for asyncio: it takes an ``AsyncRegistry``, and its calls are awaited.

    ``await AsyncJSONSerializer(…)`` is allowed, but not needed.
    """


class JSONDeserializer(_JSONDeserializerBase, SyncDeserializer):
    """Deserializer of framed JSON.

    Usable as ``value.deserializer`` of ``confluent_kafka.DeserializingConsumer``. Values are validated against the
    schema that they were written with, and against ``schema_str`` too if it is given.

    Args:
        schema_str: another schema that values have to fit; None: none.
        from_dict: converts a dict to an object: ``(dict, context) -> object``.
        schema_registry_client: a ``Registry``, a client of confluent-kafka, or a ``FolderSource``; None: values are
            validated against ``schema_str`` alone, whatever their ids are.
        conf: dotted keys: those of confluent-kafka's deserializer, and those of the keyword arguments.
        rule_conf: configuration of rule executors and actions, such as ``dlq.topic``.
        rule_registry: a ``RuleRegistry``, ours or confluent-kafka's, with further executors and actions; None: the
            global one.
        json_decode: returns the value of a text, in place of ours.
        options: the settings of ``conf`` as keyword arguments, listed in ``JSONDeserializerOptions``.

    Raises:
        ValueError: a setting is unknown, has the wrong type, or contradicts another.
        InvalidSchema: the text is no schema.
    """


class AsyncJSONDeserializer(_JSONDeserializerBase, AsyncDeserializer):
    """``JSONDeserializer`` for asyncio: it takes an ``AsyncRegistry``, and its calls are awaited.

    ``await AsyncJSONDeserializer(…)`` is allowed, but not needed.
    """


def _read_validation(reader: SettingsReader) -> ValidationSettings | None:
    is_enabled = reader.flag("validate", default=True)
    formats = reader.flag("validate.formats", default=False)
    words = reader.choice("validate.words", _WORDINGS)
    return ValidationSettings(formats=formats, words=words) if is_enabled else None


class _JSONSerializerBuilder(SerializerBuilder):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        to_dict: ToDict | None = None,
        serializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        json_encode: JsonEncode | None = None,
        serializer_init: Any = None,
    ) -> None:
        super().__init__(
            schema_registry_config,
            schema_registry_client,
            serializer_init,
            schema_str=schema,
            to_dict=to_dict,
            conf=serializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
            json_encode=json_encode,
        )

    def set_json_encode(self, json_encode: JsonEncode) -> Self:
        """Set the function that encodes a value as JSON text."""
        return self._set("json_encode", json_encode)


class _JSONDeserializerBuilder(DeserializerBuilder):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        from_dict: FromDict | None = None,
        deserializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        json_decode: JsonDecode | None = None,
        deserializer_init: Any = None,
    ) -> None:
        super().__init__(
            schema_registry_config,
            schema_registry_client,
            deserializer_init,
            schema_str=schema,
            from_dict=from_dict,
            conf=deserializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
            json_decode=json_decode,
        )

    def set_json_decode(self, json_decode: JsonDecode) -> Self:
        """Set the function that decodes a JSON text to a value."""
        return self._set("json_decode", json_decode)


class JSONSerializerBuilder(_JSONSerializerBuilder, SyncBuilder[JSONSerializer]):
    """Builder of a ``JSONSerializer``."""

    serde = JSONSerializer


class AsyncJSONSerializerBuilder(_JSONSerializerBuilder, AsyncBuilder[AsyncJSONSerializer]):
    """Builder of an ``AsyncJSONSerializer``; ``build`` is awaited."""

    serde = AsyncJSONSerializer


class JSONDeserializerBuilder(_JSONDeserializerBuilder, SyncBuilder[JSONDeserializer]):
    """Builder of a ``JSONDeserializer``."""

    serde = JSONDeserializer


class AsyncJSONDeserializerBuilder(_JSONDeserializerBuilder, AsyncBuilder[AsyncJSONDeserializer]):
    """Builder of an ``AsyncJSONDeserializer``; ``build`` is awaited."""

    serde = AsyncJSONDeserializer
