"""Resolution of references within a schema's texts, by pointers into the texts. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from contractlog.compatibility.json_schema.urls import urljoin
from contractlog.compatibility.json_text import join_pointer, parse_pointer

__all__ = ["SchemaTexts", "Subschema", "list_subschemas"]

_MAX_WEIGHT: Final = 300_000  #: largest weight of texts that are searched for names
_ANCHOR_KEYWORDS: Final = ("$anchor", "$dynamicAnchor")


@dataclass(frozen=True, slots=True)
class Subschema:
    """A subschema inside a schema text."""

    uri: str  #: identifies the text
    steps: tuple[str | int, ...]  #: path into the text
    base: str  #: base URI of references
    node: Any  #: the subschema itself

    def child(self, *steps: str | int) -> Subschema:
        """Return the subschema at a path below this one."""
        node = self.node
        for step in steps:
            node = node[step]
        return Subschema(self.uri, (*self.steps, *steps), _base_uri(self.base, node), node)

    @property
    def pointer(self) -> str:
        """The JSON Pointer into the text."""
        return join_pointer("", *self.steps)


class SchemaTexts:
    """A schema's text and its dependencies, with all names that they give to their parts."""

    def __init__(self, base: str, contents: Any, resources: Mapping[str, Any]) -> None:
        self.contents = {**resources, base: contents}
        self.root = Subschema(base, (), _base_uri(base, contents), contents)
        self._subschemas_by_name: dict[str, Subschema] = {}
        #: Whether a part has an id of its own, so that dynamic references depend on the path.
        self.has_nested_ids = False
        self.weight = 0  #: parts, each with its depth; counting stops soon after the limit
        for uri, text in self.contents.items():
            for at in list_subschemas(uri, text):
                self.weight += 1 + len(at.steps)
                if self.weight > _MAX_WEIGHT:
                    return
                self._add_names(at)

    @property
    def is_large(self) -> bool:
        """True if there are too many parts to prepare each of them."""
        return self.weight > _MAX_WEIGHT

    def resolve_reference(self, at: Subschema) -> Subschema | None:
        """Return the target of a schema's reference; None if it has no reference, or an unresolvable one."""
        reference = at.node.get("$ref")
        if reference is None and not self.has_nested_ids and len(self.contents) == 1:
            reference = at.node.get("$dynamicRef", at.node.get("$recursiveRef"))
        if not isinstance(reference, str):
            return None
        uri, _, fragment = (at.base + reference if reference[:1] == "#" else urljoin(at.base, reference)).partition("#")
        subschema = self._subschemas_by_name.get(f"{uri}#{fragment}")
        if subschema is not None or fragment[:1] not in {"", "/"}:
            return subschema
        text = self._subschemas_by_name.get(f"{uri}#")
        return None if text is None else _descend(text, unquote(fragment))

    def _add_names(self, at: Subschema) -> None:
        node = at.node
        if not at.steps:
            self._subschemas_by_name.setdefault(f"{at.uri}#", at)
        names = [node[anchor] for anchor in _ANCHOR_KEYWORDS if isinstance(node.get(anchor), str)]
        own = node.get("$id", node.get("id"))
        if isinstance(own, str):
            names += [own[1:]] if own[:1] == "#" else [""]
            self.has_nested_ids = self.has_nested_ids or (bool(at.steps) and own[:1] != "#")
        for name in names:
            self._subschemas_by_name.setdefault(f"{at.base}#{name}", at)


def list_subschemas(uri: str, text: Any) -> Iterator[Subschema]:
    """Yield all objects of a schema text, in its order."""
    waiting = [Subschema(uri, (), _base_uri(uri, text), text)]
    while waiting:
        at = waiting.pop()
        if isinstance(at.node, dict):
            yield at
        inner = (
            at.node.items() if isinstance(at.node, dict) else enumerate(at.node if isinstance(at.node, list) else ())
        )
        waiting += reversed([at.child(step) for step, node in inner if isinstance(node, dict | list)])


def _base_uri(base: str, node: Any) -> str:
    own = node.get("$id", node.get("id")) if isinstance(node, dict) else None
    return urljoin(base, own).partition("#")[0] if isinstance(own, str) and own[:1] != "#" else base


def _descend(at: Subschema, fragment: str) -> Subschema | None:
    for name in parse_pointer(fragment):
        try:
            at = at.child(int(name) if isinstance(at.node, list) else name)
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return at
