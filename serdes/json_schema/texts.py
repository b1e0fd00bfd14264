"""Resolution of references within a schema's texts, by pointers into the texts. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from contractlog.compatibility.json_schema.addresses import urljoin
from contractlog.compatibility.json_text import pointer

__all__ = ["At", "Texts"]

_MOST_WEIGHT: Final = 300_000  #: largest weight of texts that are searched for names
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")


@dataclass(frozen=True, slots=True)
class At:
    """A subschema inside a text."""

    uri: str  #: identifies the text
    steps: tuple[str | int, ...]  #: path into the text
    base: str  #: base URI of references
    node: Any  #: the subschema itself

    def under(self, *steps: str | int) -> At:
        """Return the subschema at a path below this one."""
        node = self.node
        for step in steps:
            node = node[step]
        return At(self.uri, (*self.steps, *steps), _base(self.base, node), node)

    @property
    def pointer(self) -> str:
        """The JSON Pointer into the text."""
        return pointer("", *self.steps)


class Texts:
    """A schema's text and its dependencies, with all names that they give to their parts."""

    def __init__(self, base: str, contents: Any, resources: Mapping[str, Any]) -> None:
        self.contents = {**resources, base: contents}
        self.root = At(base, (), _base(base, contents), contents)
        self._named: dict[str, At] = {}
        self.nested = False  #: whether a part has an id of its own, so that dynamic references depend on the path
        self.weight = 0  #: parts, each with its depth; counting stops soon after the limit
        for uri, text in self.contents.items():
            for at in _parts(uri, text):
                self.weight += 1 + len(at.steps)
                if self.weight > _MOST_WEIGHT:
                    return
                self._note(at)

    @property
    def large(self) -> bool:
        """True if there are too many parts to prepare each of them."""
        return self.weight > _MOST_WEIGHT

    def target(self, at: At) -> At | None:
        """Return the target of a schema's reference; None if it has no reference, or an unresolvable one."""
        reference = at.node.get("$ref")
        if reference is None and not self.nested and len(self.contents) == 1:
            reference = at.node.get("$dynamicRef", at.node.get("$recursiveRef"))
        if not isinstance(reference, str):
            return None
        uri, _, fragment = (at.base + reference if reference[:1] == "#" else urljoin(at.base, reference)).partition("#")
        known = self._named.get(f"{uri}#{fragment}")
        if known is not None or fragment[:1] not in {"", "/"}:
            return known
        text = self._named.get(f"{uri}#")
        return None if text is None else _below(text, unquote(fragment))

    def _note(self, at: At) -> None:
        node = at.node
        if not at.steps:
            self._named.setdefault(f"{at.uri}#", at)
        names = [node[anchor] for anchor in _ANCHORS if isinstance(node.get(anchor), str)]
        own = node.get("$id", node.get("id"))
        if isinstance(own, str):
            names += [own[1:]] if own[:1] == "#" else [""]
            self.nested = self.nested or (bool(at.steps) and own[:1] != "#")
        for name in names:
            self._named.setdefault(f"{at.base}#{name}", at)


def _parts(uri: str, text: Any) -> Iterator[At]:
    """Yield all objects of a text, in its order."""
    waiting = [At(uri, (), _base(uri, text), text)]
    while waiting:
        at = waiting.pop()
        if isinstance(at.node, dict):
            yield at
        inner = (
            at.node.items() if isinstance(at.node, dict) else enumerate(at.node if isinstance(at.node, list) else ())
        )
        waiting += reversed([at.under(step) for step, node in inner if isinstance(node, dict | list)])


def _base(base: str, node: Any) -> str:
    own = node.get("$id", node.get("id")) if isinstance(node, dict) else None
    return urljoin(base, own).partition("#")[0] if isinstance(own, str) and own[:1] != "#" else base


def _below(at: At, fragment: str) -> At | None:
    for step in fragment.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            at = at.under(int(name) if isinstance(at.node, list) else name)
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return at
