"""Avro values to records and back, called like confluent-kafka's serializers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.plan import AvroReader, AvroWriter, record_name
from contractlog.serdes.avro.strict import StrictWriter
from contractlog.serdes.deserializing import AsyncDeserializer, Deserializer, Deserializing, FromDict
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
    "AsyncAvroDeserializer",
    "AsyncAvroSerializer",
    "AvroDeserializer",
    "AvroSerializer",
    "AvroSerializerOptions",
]


class AvroSerializerOptions(SerializerOptions, total=False):
    """Keyword arguments of ``AvroSerializer``; each stands for a dotted key."""

    lenient: bool  #: write values that do not fit exactly as other clients do, 1.7 as the int 1 (False)
    validate_strict: bool  #: True refuses missing and surplus fields; False, when given, means lenient
    validate_strict_allow_default: bool  #: as ``validate_strict``, but fields with a default may be missing (False)


@dataclass(frozen=True, slots=True)
class AvroFormat:
    """What Avro brings to serializers."""

    limits: Limits = DEFAULT_LIMITS
    lenient: bool = False
    strict: bool = False
    or_default: bool = False
    named_records: bool = False

    type: ClassVar[SchemaType] = SchemaType.AVRO

    def name(self, parsed: ParsedSchema) -> str | None:
        """Return the full name of the record, enum or fixed that a schema is."""
        return record_name(parsed)

    def writer(self, parsed: ParsedSchema) -> BodyWriter:
        """Make a schema ready for writing."""
        if self.strict:
            return StrictWriter(parsed, self.limits, or_default=self.or_default)
        return AvroWriter(parsed, self.limits, lenient=self.lenient)

    def reader(self, writer: ParsedSchema, wanted: ParsedSchema | None) -> BodyReader:
        """Make a pair of schemas ready for reading."""
        return AvroReader(writer, wanted, limits=self.limits, named_records=self.named_records)


def _limits(given: Any) -> Limits:
    if not isinstance(given, Limits):
        raise ValueError(f"limits must be Limits(…), not {given!r}")  # noqa: TRY004 -- as for every setting
    return given


class _AvroSerializing(Serializing):
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
        reading = Reading(conf, options, rule_conf=rule_conf, rule_registry=rule_registry)
        given = reading.has("validate.strict")
        strict = reading.flag("validate.strict", default=False)
        but_defaults = reading.flag("validate.strict.allow.default", default=False)
        lenient = reading.flag("lenient", default=given and not strict and not but_defaults)
        settings = SerializerSettings.take(reading)
        reading.end()
        if lenient and (strict or but_defaults):
            raise ValueError("lenient and validate.strict cannot both be True")
        form = AvroFormat(_limits(limits), lenient=lenient, strict=strict or but_defaults, or_default=but_defaults)
        super().__init__(schema_registry_client, draft_of(schema_str, form.type), to_dict, settings=settings, form=form)


class _AvroDeserializing(Deserializing):
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
        reading = Reading(conf, options, rule_conf=rule_conf, rule_registry=rule_registry)
        settings = DeserializerSettings.take(reading)
        reading.end()
        if not isinstance(return_record_name, bool):
            raise ValueError("return_record_name must be True or False")  # noqa: TRY004 -- as other clients do
        form = AvroFormat(_limits(limits), named_records=return_record_name)
        super().__init__(
            schema_registry_client, draft_of(schema_str, form.type), from_dict, settings=settings, form=form
        )


class AvroSerializer(_AvroSerializing, Serializer):
    """Makes framed Avro of values; serves as ``value.serializer`` of ``confluent_kafka.SerializingProducer``.

    Args:
        schema_registry_client: a ``Registry``, a client of confluent-kafka, or a ``FolderSource``.
        schema_str: the schema to write with: text, a draft, or a ``Schema`` of confluent-kafka; None where the
            registry's is used.
        to_dict: makes a dict of an object: ``(object, context) -> dict``.
        conf: dotted keys: those of confluent-kafka's serializer, and those that the keyword arguments stand for.
        rule_conf: has to be None or empty, as this release runs no rules.
        rule_registry: has to be None or empty, too.
        limits: of nesting.
        options: what ``conf`` can say, as keyword arguments; ``AvroSerializerOptions`` has them all.

    Raises:
        ValueError: a setting is unknown, has the wrong type, or contradicts another.
        InvalidSchema: the text is no schema.
    """


class AsyncAvroSerializer(_AvroSerializing, AsyncSerializer):
    """``AvroSerializer`` for tasks: it takes an ``AsyncRegistry``, and its calls are awaited.

    ``await AsyncAvroSerializer(…)`` is allowed, and not needed.
    """


class AvroDeserializer(_AvroDeserializing, Deserializer):
    """Makes values of framed Avro; serves as ``value.deserializer`` of ``confluent_kafka.DeserializingConsumer``.

    Args:
        schema_registry_client: a ``Registry``, a client of confluent-kafka, or a ``FolderSource``.
        schema_str: the schema that values are wanted in, whatever they were written with; None: as written.
        from_dict: makes an object of a dict: ``(dict, context) -> object``.
        return_record_name: read records inside unions as ``(name, record)``.
        conf: dotted keys: those of confluent-kafka's deserializer, and those that the keyword arguments stand for.
        rule_conf: has to be None or empty, as this release runs no rules.
        rule_registry: has to be None or empty, too.
        limits: of nesting, lengths and numbers.
        options: what ``conf`` can say, as keyword arguments; ``DeserializerOptions`` has them all.

    Raises:
        ValueError: a setting is unknown, has the wrong type, or contradicts another.
        InvalidSchema: the text is no schema.
    """


class AsyncAvroDeserializer(_AvroDeserializing, AsyncDeserializer):
    """``AvroDeserializer`` for tasks: it takes an ``AsyncRegistry``, and its calls are awaited.

    ``await AsyncAvroDeserializer(…)`` is allowed, and not needed.
    """
