"""Bytes to values and back, one record at a time.

``contractlog.serdes.avro`` and ``contractlog.serdes.json_schema`` hold the serializers; nothing heavy is imported here.
"""

from contractlog.serdes.context import MessageField, SerializationContext

__all__ = ["MessageField", "SerializationContext"]
