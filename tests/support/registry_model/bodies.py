"""Conversion of the model's symbols to texts and request bodies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from support.registry_model.contents import INVALID, Content, Items, Text
from support.registry_model.registry_state import RegistrationDraft
from support.registry_model.scopes import ADDED_MEMBERS

__all__ = [
    "format_config",
    "format_content",
    "format_metadata",
    "format_registration",
    "format_rules",
    "format_tags",
    "format_text",
]

_FIELD: Final = "R.x"  #: what can have tags
_RULE: Final[dict[str, Any]] = {
    "doc": "told",
    "kind": "CONDITION",
    "type": "CUSTOM",
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


def format_text(text: Text) -> str:
    """Format a text as the registry returns it."""
    if text.kind == "broken":
        return '{"type": "nothing"}'
    tags = {"confluent:tags": list(text.tags)} if text.tags else {}
    record = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "int", **tags}]}
    inlined = {"type": "record", "name": "U", "fields": [{"name": "r", "type": record}]}
    value = {**_KINDS, "record": record, "inlined": inlined}[text.kind]
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def format_metadata(items: Items) -> dict[str, Any]:
    """Write metadata."""
    body: dict[str, Any] = {}
    for (part, name), value in sorted(items):
        if part == "sensitive":
            body.setdefault(part, []).append(name)
        else:
            body.setdefault(part, {})[name] = list(value) if isinstance(value, tuple) else value
    return body


def format_rules(items: Items) -> dict[str, Any]:
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


def format_tags(tags: Iterable[str]) -> list[dict[str, Any]]:
    """Write changes of tags."""
    entity = {"entityPath": _FIELD, "entityType": "sr_field"}
    return [{"schemaEntity": entity, "tags": list(tags)}] if tags else []


def _reference_bodies(references: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"name": "R", "subject": subject, "version": version} for subject, version in references]


def format_registration(sent: RegistrationDraft) -> dict[str, Any]:
    """Format a registration without the members that are not set."""
    body = {
        "schema": sent.text and format_text(sent.text),
        "schemaType": "JSON" if sent.text and sent.text.kind == "object" else None,
        "references": _reference_bodies(sent.references) or None,
        "metadata": None if sent.metadata is None else format_metadata(sent.metadata),
        "ruleSet": None if sent.rules is None else format_rules(sent.rules),
        "version": sent.version or None,
        "id": sent.id,
        "schemaTagsToAdd": format_tags(sent.add) or None,
        "schemaTagsToRemove": format_tags(sent.remove) or None,
        "propagateSchemaTags": sent.propagate or None,
    }
    return {name: value for name, value in body.items() if value is not None}


def format_content(content: Content) -> dict[str, Any]:
    """Format a content as in responses, without empty members."""
    body = {
        "schemaType": "JSON" if content.is_json else "AVRO",
        "references": _reference_bodies(content.references),
        "metadata": format_metadata(content.metadata),
        "ruleSet": format_rules(content.rules),
        "schema": format_text(content.text),
    }
    return {name: value for name, value in body.items() if value}


def format_config(members: dict[str, Any]) -> dict[str, Any]:
    """Format a config, or a patch of one."""
    body = dict(members)
    for name in ADDED_MEMBERS:
        if body.get(name) is not None:
            body[name] = (format_metadata if "Metadata" in name else format_rules)(body[name])
    return body
