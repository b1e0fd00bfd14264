"""The ``$id`` of a JSON schema, and the targets of its ``$ref`` in other documents."""

from __future__ import annotations

from typing import Any

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.urls import urldefrag, urljoin
from contractlog.compatibility.json_schema.vocabulary import detect_draft, list_subschemas
from contractlog.compatibility.json_text import join_pointer, parse_json
from contractlog.compatibility.reference_names import ExternalName, SchemaNames

__all__ = ["list_json_names"]


def list_json_names(text: str) -> SchemaNames:
    """Return the ids in a schema and the documents that it refers to; none if the text is not JSON.

    >>> list_json_names('{"$id": "http://acme/a.json", "$ref": "b.json#/x"}').external
    (ExternalName(name='http://acme/b.json', path='b.json', simple_name=''),)
    """
    try:
        schema = parse_json(text)
    except InvalidSchema:  # reported when the schema is parsed
        return SchemaNames()
    keyword_of_id = detect_draft(schema).id_keyword
    defined: dict[str, None] = {}
    used: dict[str, tuple[ExternalName, str]] = {}
    pending: list[tuple[Any, str, str]] = [
        (schema, "", "")
    ]  # schemas, each with the base of its references and its pointer
    while pending:
        node, base, at = pending.pop()
        if not isinstance(node, dict):
            continue
        own_id = node.get(keyword_of_id)
        if isinstance(own_id, str) and not own_id.startswith("#"):
            base = urldefrag(urljoin(base, own_id)).url
            defined.setdefault(base)
        target = node.get("$ref")
        written = urldefrag(target).url if isinstance(target, str) else ""
        if written:
            name = urljoin(base, written)
            used.setdefault(name, (ExternalName(name, "" if ":" in written else written), f"{at}/$ref"))
        inner = [each for keyword, body in node.items() for each in list_subschemas(keyword, body)]
        pending += [(schema, base, join_pointer(at, *tokens)) for tokens, schema in reversed(inner)]
    external = [use for name, use in used.items() if name not in defined]
    root_id, title = (schema.get(keyword_of_id), schema.get("title")) if isinstance(schema, dict) else (None, None)
    return SchemaNames(
        root=urldefrag(root_id).url if isinstance(root_id, str) else "",
        record=title if isinstance(title, str) else "",
        defined=tuple(defined),
        external=tuple(name for name, _ in external),
        external_at=tuple(at for _, at in external),
    )
