"""Lines of an export, one of each kind with every member, and exports made of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contractlog.registry.transfer.file_format import FORMAT

Line = dict[str, Any]
HEADER: Line = {"format": FORMAT}
RULE = {
    "name": "checked",
    "doc": "why",
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
METADATA = {"tags": {"**.a": ["PII"]}, "properties": {"owner": "me"}, "sensitive": ["owner"]}
RULES = {"domainRules": [RULE], "enableAt": "CLIENT"}
TARGET: Line = {
    "kind": "schema",
    "context": ".eu",
    "id": 2,
    "guid": "17e8f4f3-7c3c-4c5e-9a7e-0d6c6f1c0a01",
    "type": "AVRO",
    "schema": '{"type":"record","name":"T","fields":[]}',
    "created": 1_700_000_000_000,
}
SCHEMA: Line = {
    "kind": "schema",
    "context": ".eu",
    "id": 3,
    "guid": "17e8f4f3-7c3c-4c5e-9a7e-0d6c6f1c0a02",
    "type": "AVRO",
    "references": [{"name": "T", "subject": "target", "version": 1}],
    "metadata": METADATA,
    "ruleSet": RULES,
    "schema": '{"type":"record","name":"R","fields":[{"name":"a","type":"T"}]}',
    "submitted": '{"type":"record", "name":"R","fields":[{"name":"a","type":"T"}]}',
    "created": 1_700_000_000_000,
    "reused": False,
}
CONTEXT: Line = {"kind": "context", "name": ".eu", "next_id": 10}
TARGET_VERSION: Line = {
    "kind": "version",
    "subject": ":.eu:target",
    "version": 1,
    "id": 2,
    "created": 1_700_000_000_000,
}
VERSION: Line = {
    "kind": "version",
    "subject": ":.eu:orders",
    "version": 2,
    "id": 3,
    "created": 1_700_000_000_000,
    "deleted": 1_700_000_000_001,
}
SETTINGS: Line = {
    "kind": "settings",
    "scope": ":.eu:orders",
    "config": {
        "alias": "target",
        "aliasForDeks": "other",
        "normalize": True,
        "validateFields": True,
        "validateNewSchemas": True,
        "validateRules": True,
        "compatibilityLevel": "FULL",
        "compatibilityPolicy": "LENIENT",
        "compatibilityGroup": "major",
        "defaultMetadata": METADATA,
        "overrideMetadata": METADATA,
        "defaultRuleSet": RULES,
        "overrideRuleSet": RULES,
        "contractlogPolicy": "EXACT",
    },
}
MODE: Line = {"kind": "mode", "scope": ":.eu:orders", "mode": "READONLY"}
ASSOCIATION: Line = {
    "kind": "association",
    "guid": "17e8f4f3-7c3c-4c5e-9a7e-0d6c6f1c0a03",
    "subject": ":.eu:target",
    "resourceId": "id-1",
    "resourceName": "orders",
    "resourceNamespace": "lkc-1",
    "resourceType": "topic",
    "associationType": "value",
    "lifecycle": "WEAK",
    "frozen": False,
    "created": 1_700_000_000_000,
    "updated": 1_700_000_000_001,
}
RETIRED: Line = {
    "kind": "retired",
    "context": ".eu",
    "id": 5,
    "at": 1_700_000_000_000,
    "actor": "somebody",
    "hash": "0" * 64,
}
KEK: Line = {
    "kind": "kek",
    "name": "pii",
    "kmsType": "aws-kms",
    "kmsKeyId": "arn:aws:kms:eu-central-1:1:key/1",
    "kmsProps": {"region": "eu"},
    "doc": "personal data",
    "shared": False,
    "updated": 1_700_000_000_000,
}
DEK: Line = {
    "kind": "dek",
    "kek": "pii",
    "subject": ":.eu:orders",
    "algorithm": "AES256_SIV",
    "version": 2,
    "encryptedKeyMaterial": "d3JhcHBlZA==",
    "created": 1_700_000_000_000,
    "deleted": True,
}
CONTRACT: Line = {
    "kind": "contract",
    "topic": "orders",
    "version": 2,
    "document": {"apiVersion": "v3.2.0", "id": "orders", "kind": "DataContract", "status": "draft", "version": "1.0.0"},
    "value_version": 1,
    "key_version": 2,
    "created": 1_700_000_000_000,
    "deleted": 1_700_000_000_001,
}
#: In the order of an export.
EVERY_KIND: tuple[Line, ...] = (
    CONTEXT,
    TARGET,
    SCHEMA,
    VERSION,
    TARGET_VERSION,
    SETTINGS,
    MODE,
    ASSOCIATION,
    RETIRED,
    KEK,
    DEK,
    CONTRACT,
)


def create_export(*lines: Mapping[str, Any]) -> list[str]:
    """Create an export with these lines."""
    return [json.dumps(line) for line in (HEADER, *lines, {"kind": "end", "lines": len(lines) + 2})]


def create_content(lines: Iterable[str]) -> bytes:
    """Return the lines as the body of a request."""
    return "".join(f"{line}\n" for line in lines).encode()


#: Values to which a member is changed; ``ABSENT`` removes it.
ABSENT = object()
HOSTILE: tuple[Any, ...] = (
    ABSENT,
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    1e300,
    2**31 - 1,
    2**31,
    2**53,
    2**63 - 1,
    2**63,
    10**30,
    "",
    "abc",
    "1",
    "FULL",
    "a\0b",
    "a\ud800b",
    "a\nb",
    "x" * 300,
    "." + "x" * 300,
    ":.other:name",
    ":.eu:",
    ":.__GLOBAL:",
    ".__GLOBAL",
    "__EMPTY",
    "{ no json",
    [],
    [None],
    [1],
    {},
    {"a": 1},
    {"a": {"b": "c"}},
)


def generate_mutations(line: Any) -> Iterator[tuple[str, Any]]:
    """Yield every change of one value in a line, with a description of the change."""
    for path in _paths(line):
        for value in HOSTILE:
            changed = copy.deepcopy(line)
            inner = changed
            for step in path[:-1]:
                inner = inner[step]
            if value is not ABSENT:
                inner[path[-1]] = value
            elif isinstance(inner, dict):
                del inner[path[-1]]
            else:
                inner.pop(path[-1])
            if changed != line or repr(changed) != repr(line):
                description = "absent" if value is ABSENT else ascii(value)[:30]
                yield f"{'/'.join(map(str, path))}={description}", changed


def _paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        yield (*before, name)
        yield from _paths(inner, (*before, name))
