"""JSON values to records and back, called like confluent-kafka's serializers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.serdes.json_schema.plan import JsonReader, JsonWriter, title
from contractlog.serdes.serializing import BodyReader, BodyWriter, Deserializer, FromDict, Serializer, ToDict
from contractlog.serdes.settings import DeserializerSettings, SerializerSettings
from contractlog.serdes.source import SchemaSource, draft_of

__all__ = ["JSONDeserializer", "JSONSerializer"]


class JSONSerializer(Serializer):
    """Makes framed JSON of values; serves as ``value.serializer`` of ``confluent_kafka.SerializingProducer``.

    Args:
        schema_str: the schema to write with: text, a draft, or a ``Schema`` of confluent-kafka; None where the
            registry's is used.
        schema_registry_client: the registry.
        to_dict: makes plain JSON values of an object: ``(object, context) -> dict``.
        conf: ``auto.register.schemas`` (True), ``normalize.schemas`` (False), ``use.latest.version`` (False),
            ``use.schema.id`` (None), ``subject.name.strategy`` (by topic), ``validate`` (True).
    """

    format = SchemaType.JSON

    def __init__(
        self,
        schema_str: str | SchemaDraft | Any | None,
        schema_registry_client: SchemaSource,
        to_dict: ToDict | None = None,
        conf: Mapping[str, Any] | None = None,
    ) -> None:
        settings = SerializerSettings.from_conf(conf, "validate")
        super().__init__(schema_registry_client, draft_of(schema_str, self.format), to_dict, settings)

    def _writer(self, parsed: ParsedSchema) -> BodyWriter:
        return JsonWriter(parsed, validate=self._settings.validate)

    def _name(self, parsed: ParsedSchema) -> str | None:
        return title(parsed)


class JSONDeserializer(Deserializer):
    """Makes values of framed JSON; serves as ``value.deserializer`` of ``confluent_kafka.DeserializingConsumer``.

    Values are held against the schema that they were written with; against ``schema_str`` too where it is given.

    Args:
        schema_str: a schema that values have to fit besides; None: none.
        from_dict: makes an object of a dict: ``(dict, context) -> object``.
        schema_registry_client: the registry.
        conf: ``use.latest.version`` (False; values have to fit the newest version of their subject besides),
            ``subject.name.strategy`` (by topic), ``validate`` (True).
    """

    format = SchemaType.JSON

    def __init__(
        self,
        schema_str: str | SchemaDraft | Any | None,
        from_dict: FromDict | None = None,
        schema_registry_client: SchemaSource | None = None,
        conf: Mapping[str, Any] | None = None,
    ) -> None:
        if schema_registry_client is None:
            raise ValueError("a registry is needed: pass schema_registry_client")
        settings = DeserializerSettings.from_conf(conf, "validate")
        super().__init__(schema_registry_client, draft_of(schema_str, self.format), from_dict, settings)

    def _reader(self, writer: ParsedSchema, wanted: ParsedSchema | None) -> BodyReader:
        return JsonReader(writer, wanted, validate=self._settings.validate)

    def _name(self, parsed: ParsedSchema) -> str | None:
        return title(parsed)
