"""Every data class of confluent-kafka's registry client, and bodies to make it from."""

from __future__ import annotations

from typing import Any

import confluent_kafka.schema_registry.schema_registry_client as theirs

__all__ = ["BODIES", "CLIENTS", "ENUMS", "MODELS", "PLUMBING"]

#: Names of the package that have no counterpart: plumbing of its own.
PLUMBING = {"VALID_AUTH_PROVIDERS", "full_jitter", "is_retriable", "is_success", "normalize_identity_pool"}
CLIENTS = ["SchemaRegistryClient", "AsyncSchemaRegistryClient"]
ENUMS = ["ConfigCompatibilityLevel", "RuleKind", "RuleMode"]
MODELS = sorted(
    {name for name in dir(theirs) if name[0].isupper()} - PLUMBING - {*CLIENTS, *ENUMS, "SchemaRegistryError"}
)

RULE = {
    "name": "r",
    "doc": "d",
    "kind": "CONDITION",
    "mode": "WRITE",
    "type": "CEL",
    "tags": ["PII"],
    "params": {"a": "b"},
    "expr": "true",
    "onSuccess": "NONE",
    "onFailure": "ERROR",
    "disabled": False,
}
RULES = {"migrationRules": [], "domainRules": [RULE], "encodingRules": [RULE], "enableAt": "CLIENT"}
METADATA = {"tags": {"**.ssn": ["PII"]}, "properties": {"owner": "x"}, "sensitive": ["s"]}
REFERENCE = {"name": "n", "subject": "s", "version": 3}
SCHEMA = {
    "schema": '"string"',
    "schemaType": "JSON",
    "references": [REFERENCE],
    "metadata": METADATA,
    "ruleSet": RULES,
}
BINDING = {"subject": "s", "associationType": "value", "lifecycle": "WEAK", "frozen": True, "schema": SCHEMA}
RESOURCE = {"resourceName": "t", "resourceNamespace": "ns", "resourceId": "i", "resourceType": "topic"}
BODIES: dict[str, list[dict[str, Any]]] = {
    "Association": [{"subject": "s", "guid": "g", "associationType": "key", "frozen": True, **RESOURCE}, {}],
    "AssociationCreateOrUpdateInfo": [BINDING | {"normalize": True}, {}],
    "AssociationCreateOrUpdateRequest": [RESOURCE | {"associations": [BINDING]}, {}],
    "AssociationInfo": [BINDING, {}],
    "AssociationResponse": [RESOURCE | {"associations": [BINDING]}, {}],
    "Metadata": [METADATA, {}],
    "MetadataProperties": [{"a": "b"}, {}],
    "MetadataTags": [{"a": ["b"]}, {}],
    "RegisteredSchema": [SCHEMA | {"subject": "s", "version": 1, "id": 2, "guid": "g"}, SCHEMA, {"id": 3}],
    "Rule": [RULE],
    "RuleParams": [{"a": "b"}, {}],
    "RuleSet": [RULES, {}],
    "Schema": [SCHEMA, {"schema": "x"}, {}],
    "SchemaReference": [REFERENCE, {}],
    "ServerConfig": [
        {
            "compatibility": "FULL",
            "compatibilityLevel": "NONE",
            "compatibilityGroup": "g",
            "defaultMetadata": METADATA,
            "overrideMetadata": METADATA,
            "defaultRuleSet": RULES,
            "overrideRuleSet": RULES,
        },
        {},
    ],
}
