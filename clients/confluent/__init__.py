"""The names of ``confluent_kafka.schema_registry``, over our clients: change the import and keep everything else."""

from __future__ import annotations

from contractlog.clients.confluent.aclient import AsyncSchemaRegistryClient
from contractlog.clients.confluent.associations import (
    Association,
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AssociationInfo,
    AssociationResponse,
)
from contractlog.clients.confluent.client import SchemaRegistryClient
from contractlog.clients.confluent.errors import SchemaRegistryError
from contractlog.clients.confluent.rules import (
    Metadata,
    MetadataProperties,
    MetadataTags,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RulePhase,
    RuleSet,
)
from contractlog.clients.confluent.schemas import (
    ConfigCompatibilityLevel,
    RegisteredSchema,
    Schema,
    SchemaReference,
    SchemaVersion,
    ServerConfig,
)

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
]
