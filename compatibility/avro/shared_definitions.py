"""Definitions that an Avro schema repeats from its references, replaced by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from contractlog.compatibility.avro.reference_names import definition_name, list_avro_names, locate_inner_types
from contractlog.compatibility.fixes.json_text_edits import JsonSource, apply_edits
from contractlog.compatibility.json_text import join_pointer, parse_json, quote_json

__all__ = ["omit_shared_definitions"]


def omit_shared_definitions(text: str, referenced: Mapping[str, str]) -> str:
    """Return a valid schema with names in place of the definitions that are also in its references.

    Registries write a type that is nested in a referenced one at its first use. With the name alone, the text follows
    an edit of the referenced type.

    >>> omit_shared_definitions(
    ...     '{"type": "array", "items": {"type": "fixed", "name": "F", "size": 1}}',
    ...     {"R": '{"type": "map", "values": {"type": "fixed", "name": "F", "size": 1}}'},
    ... )
    '{"type": "array", "items": "F"}'
    """
    shared = {name for dependency in referenced.values() for name in list_avro_names(dependency).defined}
    if not shared:
        return text
    source = JsonSource(text)
    uses = _find_definitions(parse_json(text, comments=True), shared)
    spans = ((source.find(pointer), name) for pointer, name in uses)
    return apply_edits(text, [source.replace(span, quote_json(name)) for span, name in spans if span is not None])


def _find_definitions(schema: Any, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the pointer of each outermost definition of these full names, and the name to write there."""
    pending: list[tuple[Any, str, str]] = [(schema, "", "")]  # types, each with its pointer and the namespace around it
    while pending:
        node, pointer, namespace = pending.pop()
        if isinstance(node, list):
            pending += [(branch, join_pointer(pointer, index), namespace) for index, branch in enumerate(node)]
        elif isinstance(node, dict):
            full = definition_name(node, namespace)
            space, _, simple = full.rpartition(".")
            if pointer and full in names:
                yield pointer, simple if space == namespace else full
                continue
            pending += [(inner, pointer + at, space if full else namespace) for at, inner in locate_inner_types(node)]
