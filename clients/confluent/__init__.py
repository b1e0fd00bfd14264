"""Drop-in replacement for ``confluent_kafka.schema_registry``: only the import has to be changed.

The functions of this API are defined in ``serdes`` and are loaded on first use.
"""

from __future__ import annotations

from typing import Any, Final

from contractlog.clients.confluent.async_client import AsyncSchemaRegistryClient
from contractlog.clients.confluent.client import SchemaRegistryClient
from contractlog.clients.confluent.data_classes import (
    Association,
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AssociationInfo,
    AssociationResponse,
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    MetadataTags,
    RegisteredSchema,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RulePhase,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaVersion,
    ServerConfig,
)
from contractlog.clients.confluent.errors import SchemaRegistryError
from contractlog.clients.functions_by_name import import_function

__all__ = [
    "Association",
    "AssociationCreateOrUpdateInfo",
    "AssociationCreateOrUpdateRequest",
    "AssociationInfo",
    "AssociationResponse",
    "AsyncSchemaRegistryClient",
    "ConfigCompatibilityLevel",
    "Metadata",
    "MetadataProperties",
    "MetadataTags",
    "RegisteredSchema",
    "Rule",
    "RuleKind",
    "RuleMode",
    "RuleParams",
    "RulePhase",
    "RuleSet",
    "Schema",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryError",
    "SchemaVersion",
    "ServerConfig",
    "dual_schema_id_deserializer",
    "header_schema_id_serializer",
    "prefix_schema_id_deserializer",
    "prefix_schema_id_serializer",
    "record_subject_name_strategy",
    "topic_record_subject_name_strategy",
    "topic_subject_name_strategy",
]

#: As text, since ``clients`` must not import ``serdes``.
_SERDES_FUNCTIONS: Final = {
    "dual_schema_id_deserializer": "contractlog.serdes.schema_ids:dual_schema_id_deserializer",
    "header_schema_id_serializer": "contractlog.serdes.schema_ids:header_schema_id_serializer",
    "prefix_schema_id_deserializer": "contractlog.serdes.schema_ids:prefix_schema_id_deserializer",
    "prefix_schema_id_serializer": "contractlog.serdes.schema_ids:prefix_schema_id_serializer",
    "record_subject_name_strategy": "contractlog.serdes.subject_names:record_subject_name",
    "topic_record_subject_name_strategy": "contractlog.serdes.subject_names:topic_record_subject_name",
    "topic_subject_name_strategy": "contractlog.serdes.subject_names:topic_subject_name",
}


def __getattr__(name: str) -> Any:
    """Load a function of ``serdes``."""
    if name not in _SERDES_FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_function(_SERDES_FUNCTIONS[name])
