"""Resolution of ``$ref`` within a schema and its dependencies; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any
from urllib.parse import unquote

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.json_schema.urls import urldefrag, urljoin
from contractlog.compatibility.json_schema.vocabulary import (
    Draft,
    detect_draft,
    list_subschemas,
    swap_definition_keywords,
)
from contractlog.compatibility.json_text import join_pointer, parse_json, parse_pointer

__all__ = ["Documents", "ResolutionContext", "SchemaPosition", "find_at_pointer"]


@dataclass(frozen=True, slots=True)
class ResolutionContext:
    """Surroundings of a schema: its text, and the base for resolving references."""

    text: str  #: name of the referenced schema; empty for the schema itself
    draft: Draft
    resolver: Any = None  #: set if parts of the text have their own ids


@dataclass(frozen=True, slots=True)
class SchemaPosition:
    """A schema, or any other value, at its position in the texts."""

    location: str  #: JSON Pointer into the text; in a referenced schema ``NAME#POINTER``
    contents: Any
    context: ResolutionContext  #: without the schema's own id

    def child(self, token: str | int) -> SchemaPosition:
        """Return the member or item at a token, in the same surroundings."""
        return SchemaPosition(join_pointer(self.location, token), self.contents[token], self.context)


class Documents:
    """A schema and all its dependencies."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str]) -> None:
        self._values = {"": schema.value}
        self._referenced = referenced
        self._drafts = {"": schema.draft}
        self._has_ids: dict[str, bool] = {} if schema.inner_ids else {"": False}

    def root(self) -> SchemaPosition:
        """Return the schema itself."""
        return self._root_target("")

    def values(self) -> dict[str, Any]:
        """Return the JSON values of all texts by name; the schema's own name is empty."""
        return {name: self._value(name) for name in ("", *self._referenced)}

    def schemas(self) -> Iterator[dict[str, Any]]:
        """Yield every schema of all texts that is an object, the root first."""
        pending = list(reversed(self.values().values()))
        while pending:
            schema = pending.pop()
            if isinstance(schema, dict):
                yield schema
                pending += [part for keyword, body in schema.items() for _, part in list_subschemas(keyword, body)]

    def follow(self, reference: str, context: ResolutionContext) -> SchemaPosition | None:
        """Return the target of a reference; None if there is none."""
        if context.resolver is None:
            url, fragment = urldefrag(reference)
            name = self._find_name(url) if url else context.text
            if name is not None and not self._has_inner_ids(name):
                target = self._find_by_pointer(name, fragment)
                if target is not None:
                    return target
        return self._find_by_registry(reference, context)

    def below(self, position: SchemaPosition, *tokens: str | int) -> SchemaPosition:
        """Return a subschema of a schema, whose own id becomes the base of the subschema."""
        context = self.context_within(position.contents, position.context)
        return reduce(SchemaPosition.child, tokens, SchemaPosition(position.location, position.contents, context))

    def follow_from(self, position: SchemaPosition, reference: str) -> SchemaPosition | None:
        """Return the target of a schema's reference; None if there is none."""
        return self.follow(reference, self.context_within(position.contents, position.context))

    def context_within(self, contents: Any, context: ResolutionContext) -> ResolutionContext:
        """Return the location for the parts of a schema, whose own id becomes their base."""
        if context.resolver is None or not isinstance(contents, dict):
            return context
        if not isinstance(contents.get(context.draft.id_keyword, ""), str):
            return context
        resource = context.draft.specification.create_resource(contents)
        try:
            return ResolutionContext(context.text, context.draft, context.resolver.in_subresource(resource))
        except ValueError:  # the id is not a valid URL
            return context

    def _root_target(self, name: str) -> SchemaPosition:
        value, draft = self._value(name), self._drafts[name]
        resolver = None
        if self._has_inner_ids(name):
            resolver = self._registry.resolver(_base_url(value, draft))
        return SchemaPosition(f"{name}#" if name else "", value, ResolutionContext(name, draft, resolver))

    def _value(self, name: str) -> Any:
        if name not in self._values:
            value = parse_json(self._referenced[name])
            self._values[name], self._drafts[name] = value, detect_draft(value)
        return self._values[name]

    def _find_name(self, url: str) -> str | None:
        if url in self._referenced:
            return url
        relative_name = url.removeprefix("./")
        return relative_name if relative_name in self._referenced else None

    def _has_inner_ids(self, name: str) -> bool:
        """Return True if a part of the text has its own id, which changes the base of its references."""
        if name not in self._has_ids:
            value = self._value(name)
            keyword = self._drafts[name].id_keyword
            self._has_ids[name] = any(
                part is not value and isinstance(part.get(keyword), str) for part in _iterate_objects(value)
            )
        return self._has_ids[name]

    def _find_by_pointer(self, name: str, fragment: str) -> SchemaPosition | None:
        for candidate in (f"#{fragment}", *swap_definition_keywords(f"#{fragment}")):
            match = find_at_pointer(self._value(name), unquote(candidate[1:]))
            if match is not None:
                at, contents = match
                return SchemaPosition(f"{name}#{at}" if name else at, contents, self._root_target(name).context)
        return None

    def _find_by_registry(self, reference: str, context: ResolutionContext) -> SchemaPosition | None:
        base = _base_url(self._value(context.text), self._drafts[context.text])
        if reference.startswith("#"):
            base = base or context.text  # else it would be a reference into the schema itself
        resolver = context.resolver or self._registry.resolver(base)
        for candidate in (reference, *swap_definition_keywords(reference)):
            try:
                resolved = resolver.lookup(candidate)
            except (Unresolvable, ValueError, TypeError, AttributeError, RecursionError):
                continue
            container, token = resolved.contents, ""
            if isinstance(container, bool):  # located by what contains it
                parent, slash, last = candidate.rpartition("/")
                container, token = (resolver.lookup(parent).contents, unquote(slash + last)) if slash else (None, "")
            name, at = self._locations.get(id(container), (None, ""))
            if name is None:
                return None
            at += token
            resolver_within = resolved.resolver if self._has_inner_ids(name) else None
            return SchemaPosition(
                f"{name}#{at}" if name else at,
                resolved.contents,
                ResolutionContext(name, self._drafts[name], resolver_within),
            )
        return None

    @cached_property
    def _registry(self) -> Registry[Any]:
        value, draft = self._values[""], self._drafts[""]
        base = _base_url(value, draft)
        resources = [(base, draft.specification.create_resource(value))]
        for name in self._referenced:
            document = self._value(name)
            resource: Resource[Any] = self._drafts[name].specification.create_resource(document)
            uris = {name, f"./{name}", urljoin(base, name), _base_url(document, self._drafts[name]) or name}
            resources += [(uri, resource) for uri in sorted(uris)]
        return Registry().with_resources(resources)

    @cached_property
    def _locations(self) -> dict[int, tuple[str, str]]:
        return {
            id(part): (name, at) for name, value in self.values().items() for at, part in _iterate_containers(value)
        }


def _base_url(value: Any, draft: Draft) -> str:
    resource: Resource[Any] = draft.specification.create_resource(value)
    try:
        return resource.id() or ""
    except (ValueError, TypeError, AttributeError):
        return ""


def _iterate_containers(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every object and array of a schema text with its pointer."""
    pending = [("", value)]
    while pending:
        at, part = pending.pop()
        if isinstance(part, (dict, list)):
            yield at, part
            members = part.items() if isinstance(part, dict) else enumerate(part)
            pending.extend((join_pointer(at, key), member) for key, member in members)


def _iterate_objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a schema text; without pointers this takes a third of the time."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            yield part
            pending.extend([member for member in part.values() if isinstance(member, (dict, list))])
        elif isinstance(part, list):
            pending.extend([item for item in part if isinstance(item, (dict, list))])


def find_at_pointer(value: Any, fragment: str) -> tuple[str, Any] | None:
    """Return the schema at a JSON Pointer, with the pointer in normal form."""
    if fragment and not fragment.startswith("/"):
        return None
    at = ""
    for token in parse_pointer(fragment):
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
        at = join_pointer(at, token)
    return (at, value) if isinstance(value, (dict, bool)) else None
