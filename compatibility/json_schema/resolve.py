"""Resolution of ``$ref`` within a schema and its dependencies; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from contractlog.compatibility.json_schema.addresses import urldefrag, urljoin
from contractlog.compatibility.json_schema.parse import Draft, JsonSchema, bridges, draft_of
from contractlog.compatibility.json_text import pointer, read

__all__ = ["Here", "Target", "Texts"]


@dataclass(frozen=True, slots=True)
class Here:
    """Location of a keyword: its text, and the base for resolving references."""

    text: str  #: name of the referenced schema; empty for the schema itself
    draft: Draft
    resolver: Any = None  #: set if parts of the text have their own ids


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a reference."""

    place: str  #: JSON Pointer into the text; in a referenced schema ``NAME#POINTER``
    contents: Any
    here: Here


class Texts:
    """A schema and all its dependencies."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str]) -> None:
        self._values = {"": schema.value}
        self._referenced = referenced
        self._drafts = {"": schema.draft}
        self._parted: dict[str, bool] = {} if schema.inner_ids else {"": False}

    def root(self) -> Target:
        """Return the schema itself."""
        return self._start("")

    def follow(self, reference: str, here: Here) -> Target | None:
        """Return the target of a reference; None if there is none."""
        if here.resolver is None:
            url, fragment = urldefrag(reference)
            name = self._named(url) if url else here.text
            if name is not None and not self._has_parts(name):
                found = self._pointed(name, fragment)
                if found is not None:
                    return found
        return self._looked_up(reference, here)

    def inside(self, contents: Any, here: Here) -> Here:
        """Return the location for the parts of a schema, whose own id becomes their base."""
        if here.resolver is None or not isinstance(contents, dict):
            return here
        if not isinstance(contents.get("id" if here.draft.name == "draft-04" else "$id", ""), str):
            return here
        resource = here.draft.specification.create_resource(contents)
        try:
            return Here(here.text, here.draft, here.resolver.in_subresource(resource))
        except ValueError:  # the id is not a valid URL
            return here

    def _start(self, name: str) -> Target:
        value, draft = self._value(name), self._drafts[name]
        resolver = None
        if self._has_parts(name):
            resolver = self._registry.resolver(_base(value, draft))
        return Target(f"{name}#" if name else "", value, Here(name, draft, resolver))

    def _value(self, name: str) -> Any:
        if name not in self._values:
            value = read(self._referenced[name])
            self._values[name], self._drafts[name] = value, draft_of(value)
        return self._values[name]

    def _named(self, url: str) -> str | None:
        if url in self._referenced:
            return url
        plain = url.removeprefix("./")
        return plain if plain in self._referenced else None

    def _has_parts(self, name: str) -> bool:
        """Return True if a part of the text has its own id, which changes the base of its references."""
        if name not in self._parted:
            value = self._value(name)
            word = "id" if self._drafts[name].name == "draft-04" else "$id"
            self._parted[name] = any(
                part is not value and isinstance(part.get(word), str) for part in _unplaced_objects(value)
            )
        return self._parted[name]

    def _pointed(self, name: str, fragment: str) -> Target | None:
        for candidate in (f"#{fragment}", *bridges(f"#{fragment}")):
            found = _at(self._value(name), unquote(candidate[1:]))
            if found is not None:
                at, contents = found
                return Target(f"{name}#{at}" if name else at, contents, self._start(name).here)
        return None

    def _looked_up(self, reference: str, here: Here) -> Target | None:
        resolver = here.resolver or self._registry.resolver(_base(self._value(here.text), self._drafts[here.text]))
        for candidate in (reference, *bridges(reference)):
            try:
                found = resolver.lookup(candidate)
            except (Unresolvable, ValueError, TypeError, AttributeError, RecursionError):
                continue
            name, at = self._places.get(id(found.contents), (None, ""))
            if name is None:
                return Target(candidate, found.contents, here) if isinstance(found.contents, bool) else None
            parted = found.resolver if self._has_parts(name) else None
            return Target(f"{name}#{at}" if name else at, found.contents, Here(name, self._drafts[name], parted))
        return None

    @cached_property
    def _registry(self) -> Registry[Any]:
        value, draft = self._values[""], self._drafts[""]
        base = _base(value, draft)
        resources = [(base, draft.specification.create_resource(value))]
        for name in self._referenced:
            other = self._value(name)
            resource: Resource[Any] = self._drafts[name].specification.create_resource(other)
            uris = {name, f"./{name}", urljoin(base, name), _base(other, self._drafts[name]) or name}
            resources += [(uri, resource) for uri in sorted(uris)]
        return Registry().with_resources(resources)

    @cached_property
    def _places(self) -> dict[int, tuple[str, str]]:
        names = ("", *self._referenced)
        return {id(part): (name, at) for name in names for at, part in _objects(self._value(name))}


def _base(value: Any, draft: Draft) -> str:
    resource: Resource[Any] = draft.specification.create_resource(value)
    try:
        return resource.id() or ""
    except (ValueError, TypeError, AttributeError):
        return ""


def _objects(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of a text with its pointer."""
    waiting = [("", value)]
    while waiting:
        at, part = waiting.pop()
        if isinstance(part, dict):
            yield at, part
            waiting.extend((pointer(at, key), member) for key, member in part.items())
        elif isinstance(part, list):
            waiting.extend((pointer(at, index), member) for index, member in enumerate(part))


def _unplaced_objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a text; without pointers this takes a third of the time."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend([member for member in part.values() if isinstance(member, (dict, list))])
        elif isinstance(part, list):
            waiting.extend([item for item in part if isinstance(item, (dict, list))])


def _at(value: Any, fragment: str) -> tuple[str, Any] | None:
    """Return the schema at a JSON Pointer, with the pointer in normal form."""
    if fragment and not fragment.startswith("/"):
        return None
    at = ""
    for written in fragment.split("/")[1:]:
        token = written.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
        at = pointer(at, token)
    return (at, value) if isinstance(value, (dict, bool)) else None
