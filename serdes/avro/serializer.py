"""Avro values to records and back, called like confluent-kafka's serializers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.plan import AvroReader, AvroWriter, record_name
from contractlog.serdes.serializing import BodyReader, BodyWriter, Deserializer, FromDict, Serializer, ToDict
from contractlog.serdes.settings import DeserializerSettings, SerializerSettings
from contractlog.serdes.source import SchemaSource, draft_of

__all__ = ["AvroDeserializer", "AvroSerializer"]


class AvroSerializer(Serializer):
    """Makes framed Avro of values; serves as ``value.serializer`` of ``confluent_kafka.SerializingProducer``.

    Args:
        client: the registry.
        schema_str: the schema to write with: text, a draft, or a ``Schema`` of confluent-kafka; None where the
            registry's is used.
        to_dict: makes a dict of an object: ``(object, context) -> dict``.
        conf: ``auto.register.schemas`` (True), ``normalize.schemas`` (False), ``use.latest.version`` (False),
            ``use.schema.id`` (None), ``subject.name.strategy`` (by topic).
        limits: of nesting.
    """

    format = SchemaType.AVRO

    def __init__(
        self,
        client: SchemaSource,
        schema_str: str | SchemaDraft | Any | None = None,
        to_dict: ToDict | None = None,
        conf: Mapping[str, Any] | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._limits = limits
        super().__init__(client, draft_of(schema_str, self.format), to_dict, SerializerSettings.from_conf(conf))

    def _writer(self, parsed: ParsedSchema) -> BodyWriter:
        return AvroWriter(parsed, self._limits)

    def _name(self, parsed: ParsedSchema) -> str | None:
        return record_name(parsed)


class AvroDeserializer(Deserializer):
    """Makes values of framed Avro; serves as ``value.deserializer`` of ``confluent_kafka.DeserializingConsumer``.

    Args:
        client: the registry.
        schema_str: the schema that values are wanted in, whatever they were written with; None: as written.
        from_dict: makes an object of a dict: ``(dict, context) -> object``.
        return_record_name: read records inside unions as ``(name, record)``.
        conf: ``use.latest.version`` (False; values are wanted in the newest version of their subject),
            ``subject.name.strategy`` (by topic).
        limits: of nesting, lengths and numbers.
    """

    format = SchemaType.AVRO

    def __init__(
        self,
        client: SchemaSource,
        schema_str: str | SchemaDraft | Any | None = None,
        from_dict: FromDict | None = None,
        return_record_name: bool = False,  # noqa: FBT001, FBT002 -- other clients' order of arguments
        conf: Mapping[str, Any] | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._limits = limits
        self._named_records = return_record_name
        super().__init__(client, draft_of(schema_str, self.format), from_dict, DeserializerSettings.from_conf(conf))

    def _reader(self, writer: ParsedSchema, wanted: ParsedSchema | None) -> BodyReader:
        return AvroReader(writer, wanted, limits=self._limits, named_records=self._named_records)

    def _name(self, parsed: ParsedSchema) -> str | None:
        return record_name(parsed)
