"""Avro serializers, deserializers and their builders, with confluent-kafka's call signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.serdes.avro.avro_schema import find_record_name
from contractlog.serdes.avro.field_rules import avro_field_rules
from contractlog.serdes.avro.inline_constraints import avro_constraints
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter, StrictWriter
from contractlog.serdes.deserializer import AsyncDeserializer, DeserializerBase, FromDict, SyncDeserializer
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
    "AsyncAvroDeserializer",
    "AsyncAvroDeserializerBuilder",
    "AsyncAvroSerializer",
    "AsyncAvroSerializerBuilder",
    "AvroDeserializer",
    "AvroDeserializerBuilder",
    "AvroSerializer",
    "AvroSerializerBuilder",
    "AvroSerializerOptions",
]


class AvroSerializerOptions(SerializerOptions, total=False):
    """Keyword arguments of ``AvroSerializer``; each corresponds to a dotted key."""

    lenient: bool  #: write values that do not fit exactly as other clients do, 1.7 as the int 1 (False)
    validate_strict: bool  #: True rejects missing and surplus fields; False, when given, means lenient
    validate_strict_allow_default: bool  #: as ``validate_strict``, but fields with a default may be missing (False)


@dataclass(frozen=True, slots=True)
class AvroFormat:
    """The Avro part of serializers."""

    limits: Limits = DEFAULT_LIMITS
    lenient: bool = False
    strict: bool = False
    or_default: bool = False
    named_records: bool = False

    type: ClassVar[SchemaType] = SchemaType.AVRO

    def name(self, parsed: ParsedSchema) -> str | None:
        """Return the full name of a schema that is a record, enum or fixed."""
        return find_record_name(parsed)

    def writer(self, parsed: ParsedSchema) -> BodyWriter:
        """Prepare a schema for writing."""
        if self.strict:
            return StrictWriter(parsed, self.limits, or_default=self.or_default)
        return AvroWriter(parsed, self.limits, lenient=self.lenient)

    def reader(self, writer: ParsedSchema, reader_schema: ParsedSchema | None) -> BodyReader:
        """Prepare a pair of schemas for reading."""
        return AvroReader(writer, reader_schema, limits=self.limits, named_records=self.named_records)

    def field_rules(self, parsed: ParsedSchema, metadata: Metadata | None) -> FieldRules:
        """Return the application of rules to the fields of a schema."""
        return avro_field_rules(parsed, metadata)

    def inline_constraints(self, parsed: ParsedSchema) -> Constraints | None:
        """Return the inline constraints of a schema, if it has any."""
        return avro_constraints(parsed)

    def checker(self, parsed: ParsedSchema) -> None:
        """Return None: values are not checked again after rules, as they are typed already."""


def _check_limits(given: Any) -> Limits:
    if not isinstance(given, Limits):
        raise ValueError(f"limits must be Limits(…), not {given!r}")  # noqa: TRY004 -- as for every setting
    return given


class _AvroSerializerBase(SerializerBase):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_client: Any,
        schema_str: str | SchemaDraft | Any | None = None,
        to_dict: ToDict | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        **options: Unpack[AvroSerializerOptions],
    ) -> None:
        reader = SettingsReader(conf, options, rule_conf, rule_registry)
        given = reader.is_given("validate.strict")
        strict = reader.flag("validate.strict", default=False)
        but_defaults = reader.flag("validate.strict.allow.default", default=False)
        lenient = reader.flag("lenient", default=given and not strict and not but_defaults)
        settings = SerializerSettings.read(reader)
        reader.reject_unknown()
        if lenient and (strict or but_defaults):
            raise ValueError("lenient and validate.strict cannot both be True")
        avro_format = AvroFormat(
            _check_limits(limits), lenient=lenient, strict=strict or but_defaults, or_default=but_defaults
        )
        super().__init__(
            schema_registry_client, to_draft(schema_str, avro_format.type), to_dict, settings=settings, form=avro_format
        )


class _AvroDeserializerBase(DeserializerBase):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_client: Any,
        schema_str: str | SchemaDraft | Any | None = None,
        from_dict: FromDict | None = None,
        return_record_name: bool = False,  # noqa: FBT001, FBT002 -- other clients' order of arguments
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        **options: Unpack[DeserializerOptions],
    ) -> None:
        reader = SettingsReader(conf, options, rule_conf, rule_registry)
        settings = DeserializerSettings.read(reader)
        reader.reject_unknown()
        if not isinstance(return_record_name, bool):
            raise ValueError("return_record_name must be True or False")  # noqa: TRY004 -- as other clients do
        avro_format = AvroFormat(_check_limits(limits), named_records=return_record_name)
        super().__init__(
            schema_registry_client,
            to_draft(schema_str, avro_format.type),
            from_dict,
            settings=settings,
            form=avro_format,
        )


class AvroSerializer(_AvroSerializerBase, SyncSerializer):
    """Serializer of values to framed Avro.

    Usable as ``value.serializer`` of ``confluent_kafka.SerializingProducer``.

    Args:
        schema_registry_client: a ``Registry``, a client of confluent-kafka, or a ``FolderSource``.
        schema_str: the schema to write with: text, a draft, or a ``Schema`` of confluent-kafka; None to use the
            registry's.
        to_dict: converts an object to a dict: ``(object, context) -> dict``.
        conf: dotted keys: those of confluent-kafka's serializer, and those of the keyword arguments.
        rule_conf: configuration of rule executors and actions, such as ``dlq.topic``.
        rule_registry: a ``RuleRegistry``, ours or confluent-kafka's, with further executors and actions; None: the
            global one.
        limits: bounds on nesting.
        options: the settings of ``conf`` as keyword arguments, listed in ``AvroSerializerOptions``.

    Raises:
        ValueError: a setting is unknown, has the wrong type, or contradicts another.
        InvalidSchema: the text is no schema.
    """


class AsyncAvroSerializer(_AvroSerializerBase, AsyncSerializer):
    """``AvroSerializer`` for asyncio: it takes an ``AsyncRegistry``, and its calls are awaited.

    ``await AsyncAvroSerializer(…)`` is allowed, but not needed.
    """


class AvroDeserializer(_AvroDeserializerBase, SyncDeserializer):
    """Deserializer of framed Avro.

    Usable as ``value.deserializer`` of ``confluent_kafka.DeserializingConsumer``.

    Args:
        schema_registry_client: a ``Registry``, a client of confluent-kafka, or a ``FolderSource``.
        schema_str: the reader schema; None to read each record as it was written.
        from_dict: converts a dict to an object: ``(dict, context) -> object``.
        return_record_name: return records inside unions as ``(name, record)``.
        conf: dotted keys: those of confluent-kafka's deserializer, and those of the keyword arguments.
        rule_conf: configuration of rule executors and actions, such as ``dlq.topic``.
        rule_registry: a ``RuleRegistry``, ours or confluent-kafka's, with further executors and actions; None: the
            global one.
        limits: bounds on nesting, lengths and numbers of items.
        options: the settings of ``conf`` as keyword arguments, listed in ``DeserializerOptions``.

    Raises:
        ValueError: a setting is unknown, has the wrong type, or contradicts another.
        InvalidSchema: the text is no schema.
    """


class AsyncAvroDeserializer(_AvroDeserializerBase, AsyncDeserializer):
    """``AvroDeserializer`` for asyncio: it takes an ``AsyncRegistry``, and its calls are awaited.

    ``await AsyncAvroDeserializer(…)`` is allowed, but not needed.
    """


class _AvroSerializerBuilder(SerializerBuilder):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        to_dict: ToDict | None = None,
        serializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
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
        )


class _AvroDeserializerBuilder(DeserializerBuilder):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        from_dict: FromDict | None = None,
        return_record_name: bool = False,  # noqa: FBT001, FBT002 -- other clients' order of arguments
        deserializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        deserializer_init: Any = None,
    ) -> None:
        super().__init__(
            schema_registry_config,
            schema_registry_client,
            deserializer_init,
            schema_str=schema,
            from_dict=from_dict,
            return_record_name=return_record_name,
            conf=deserializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
        )

    def set_return_record_name(self, return_record_name: bool) -> Self:  # noqa: FBT001 -- as other clients have it
        """Set whether records inside unions are returned as ``(name, record)``."""
        return self._set("return_record_name", return_record_name)


class AvroSerializerBuilder(_AvroSerializerBuilder, SyncBuilder[AvroSerializer]):
    """Builder of an ``AvroSerializer``."""

    serde = AvroSerializer


class AsyncAvroSerializerBuilder(_AvroSerializerBuilder, AsyncBuilder[AsyncAvroSerializer]):
    """Builder of an ``AsyncAvroSerializer``; ``build`` is awaited."""

    serde = AsyncAvroSerializer


class AvroDeserializerBuilder(_AvroDeserializerBuilder, SyncBuilder[AvroDeserializer]):
    """Builder of an ``AvroDeserializer``."""

    serde = AvroDeserializer


class AsyncAvroDeserializerBuilder(_AvroDeserializerBuilder, AsyncBuilder[AsyncAvroDeserializer]):
    """Builder of an ``AsyncAvroDeserializer``; ``build`` is awaited."""

    serde = AsyncAvroDeserializer
