"""Between the model's symbols and what travels: texts, metadata, rules, bodies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from support.registry_model.contents import INVALID, Content, Items, Text
from support.registry_model.holding import Sent
from support.registry_model.scopes import ADDED

__all__ = ["config_body", "content_body", "metadata_body", "register_body", "rules_body", "tag_bodies", "text_of"]

_FIELD: Final = "R.x"  #: what can have tags
_RULE: Final[dict[str, Any]] = {
    "doc": "told",
    "kind": "CONDITION",
    "type": "CEL",
    "tags": ["PII"],
    "params": {"p": "1"},
    "onSuccess": "NONE",
    "onFailure": "ERROR",
    "disabled": False,
}
_KINDS: Final[dict[str, Any]] = {
    "int": "int",
    "long": "long",
    "string": "string",
    "bytes": "bytes",
    "ab": {"type": "int", "a": 1, "b": 2},
    "ba": {"type": "int", "b": 2, "a": 1},
    "lax": {"type": "fixed", "name": "é", "size": 2},
    "object": {"type": "object"},
    "named": "U",
    "user": {"type": "record", "name": "U", "fields": [{"name": "r", "type": "R"}]},
}


def text_of(text: Text) -> str:
    """Write a text as the registry shows it."""
    if text.kind == "broken":
        return '{"type": "nothing"}'
    tags = {"confluent:tags": list(text.tags)} if text.tags else {}
    record = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "int", **tags}]}
    inlined = {"type": "record", "name": "U", "fields": [{"name": "r", "type": record}]}
    value = {**_KINDS, "record": record, "inlined": inlined}[text.kind]
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def metadata_body(items: Items) -> dict[str, Any]:
    """Write metadata."""
    body: dict[str, Any] = {}
    for (part, name), value in sorted(items):
        if part == "sensitive":
            body.setdefault(part, []).append(name)
        else:
            body.setdefault(part, {})[name] = list(value) if isinstance(value, tuple) else value
    return body


def rules_body(items: Items) -> dict[str, Any]:
    """Write rules; a rule's value is its expression."""
    if items == INVALID:
        return {"domainRules": [{"name": "bad"}]}
    body: dict[str, Any] = {}
    for (part, name), value in sorted(items, key=lambda item: item[0][0]):
        if part == "enableAt":
            body[part] = value
            continue
        mode = "UPGRADE" if part == "migrationRules" else "WRITE"
        body.setdefault(part, []).append({"name": name, "mode": mode, "expr": value, **_RULE})
    return body


def tag_bodies(tags: Iterable[str]) -> list[dict[str, Any]]:
    """Write changes of tags."""
    entity = {"entityPath": _FIELD, "entityType": "sr_field"}
    return [{"schemaEntity": entity, "tags": list(tags)}] if tags else []


def _reference_bodies(references: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"name": "R", "subject": subject, "version": version} for subject, version in references]


def register_body(sent: Sent) -> dict[str, Any]:
    """Write a registration; what was not asked for is not there."""
    body = {
        "schema": sent.text and text_of(sent.text),
        "schemaType": "JSON" if sent.text and sent.text.kind == "object" else None,
        "references": _reference_bodies(sent.references) or None,
        "metadata": None if sent.metadata is None else metadata_body(sent.metadata),
        "ruleSet": None if sent.rules is None else rules_body(sent.rules),
        "version": sent.version or None,
        "id": sent.id,
        "schemaTagsToAdd": tag_bodies(sent.add) or None,
        "schemaTagsToRemove": tag_bodies(sent.remove) or None,
        "propagateSchemaTags": sent.propagate or None,
    }
    return {name: value for name, value in body.items() if value is not None}


def content_body(content: Content) -> dict[str, Any]:
    """Write a content as answers show it: what is empty is not there."""
    body = {
        "schemaType": "JSON" if content.json else "AVRO",
        "references": _reference_bodies(content.references),
        "metadata": metadata_body(content.metadata),
        "ruleSet": rules_body(content.rules),
        "schema": text_of(content.text),
    }
    return {name: value for name, value in body.items() if value}


def config_body(members: dict[str, Any]) -> dict[str, Any]:
    """Write a config, or a patch of one."""
    body = dict(members)
    for name in ADDED:
        if body.get(name) is not None:
            body[name] = (metadata_body if "Metadata" in name else rules_body)(body[name])
    return body
