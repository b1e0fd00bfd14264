"""JSON Schema parser: the draft, the JSON value, and validation of references without fetching.

A dependency is found by the name of the reference, unchanged or relative to the schema's ``$id``, or by the ``$id`` of
its own text. A ``$ref`` to anything else is rejected: nothing here opens a URL or a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import isinf
from operator import getitem
from typing import Any, Final

import jsonschema_rs
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.urls import urldefrag, urljoin
from contractlog.compatibility.json_schema.vocabulary import (
    REFERENCE_KEYWORDS,
    Draft,
    detect_draft,
    is_meta_schema_uri,
    swap_definition_keywords,
)
from contractlog.compatibility.json_text import join_pointer, parse_json, remove_strings, to_plain_numbers
from contractlog.compatibility.limits import check_dependencies, truncate_message

__all__ = [
    "JsonSchema",
    "find_meta_schema_error",
    "find_schema_error",
    "is_meta_schema",
    "parse_json_schema",
]


MAX_OBJECTS: Final = 20_000
"""Maximum number of objects in one text.

A node of the tree takes about a kilobyte and 30 microseconds to make and to meet, so 100,000 of them take over two
seconds and 200 MB. Equal parts cannot be made once: each knows its place, and a ``$ref`` in it its base.
"""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class JsonSchema:
    """A parsed JSON Schema."""

    value: Any  #: parsed JSON; numbers are ``Number``
    draft: Draft
    inner_ids: bool = True  #: False only if no part has its own id
    derived: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  #: cache of derived values


def parse_json_schema(text: str, referenced: Mapping[str, str]) -> JsonSchema:
    """Parse a JSON Schema without validating it against its meta-schema or resolving its references.

    Args:
        text: the schema.
        referenced: name -> text of every dependency.

    Raises:
        InvalidSchema: not a valid schema; ``at`` points to the position.
    """
    check_dependencies(referenced)
    if text.count("{") > MAX_OBJECTS and remove_strings(text).count("{") > MAX_OBJECTS:
        raise InvalidSchema(f"the schema has more than {MAX_OBJECTS} objects", at="")
    value = parse_json(text)
    if not isinstance(value, (dict, bool)):
        raise InvalidSchema("the root of a JSON schema is an object, true or false", at="")
    draft = detect_draft(value)
    for name, dependency in referenced.items():
        _parse_root(name, dependency)
    return JsonSchema(value, draft, _may_have_inner_ids(text, value, draft))


def find_schema_error(schema: JsonSchema, referenced: Mapping[str, str]) -> InvalidSchema | None:
    """Return the meta-schema violation or unresolvable ``$ref`` of a schema; None if there is none."""
    try:
        contents = to_plain_numbers(schema.value)
        _check_against_draft(contents, schema.draft)
        dependencies = {
            name: to_plain_numbers(_parse_root(name, dependency)) for name, dependency in referenced.items()
        }
        _check_references(contents, schema.draft, dependencies)
    except InvalidSchema as error:
        return error
    return None


def is_meta_schema(reference: str) -> bool:
    """Return True if a reference is to the meta-schema of a draft."""
    return is_meta_schema_uri(urldefrag(reference).url)


def _may_have_inner_ids(text: str, value: Any, draft: Draft) -> bool:
    """Return True if a part of the text may have its own id.

    The text is searched for the keyword, which is much faster than visiting all objects.
    """
    root_ids = isinstance(value, dict) and draft.id_keyword in value
    return "\\u" in text or text.count(f'"{draft.id_keyword}"') > root_ids


def find_meta_schema_error(schema: JsonSchema, referenced: Mapping[str, str]) -> InvalidSchema | None:
    """Return the meta-schema violation of a stored schema or a dependency; None if all are valid."""
    if "invalid" not in schema.derived:
        try:
            _check_against_draft(to_plain_numbers(schema.value), schema.draft)
            for name, text in referenced.items():
                dependency = _parse_root(name, text)
                _check_against_draft(to_plain_numbers(dependency), detect_draft(dependency))
            schema.derived["invalid"] = None
        except InvalidSchema as problem:
            schema.derived["invalid"] = problem
    error: InvalidSchema | None = schema.derived["invalid"]
    return error


def _parse_root(name: str, text: str) -> Any:
    try:
        value = parse_json(text)
    except InvalidSchema as problem:
        raise InvalidSchema(problem.message, at=f"{name}#{problem.at}") from None
    if not isinstance(value, (dict, bool)):
        raise InvalidSchema("the root of a JSON schema is an object, true or false", at=f"{name}#")
    return value


def _check_against_draft(contents: Any, draft: Draft) -> None:
    if isinstance(contents, bool):
        return
    try:
        jsonschema_rs.meta.validate({**contents, "$schema": draft.uri})
    except jsonschema_rs.ValidationError as problem:
        value = reduce(getitem, problem.instance_path, contents)
        is_infinite = isinstance(value, float) and isinf(value)  # which the validator takes for null
        reason = "a number outside the range of a double" if is_infinite else truncate_message(problem.message)
        at = join_pointer("", *problem.instance_path)
        raise InvalidSchema(f"not a schema of {draft.name}: {reason}", at=at) from None
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as problem:
        raise InvalidSchema(f"not a schema of {draft.name}: {truncate_message(str(problem))}", at="") from None


def _check_references(contents: Any, draft: Draft, dependencies: Mapping[str, Any]) -> None:
    try:
        root: Resource[Any] = draft.specification.create_resource(contents)
        base = root.id() or ""
        resources = [(base, root)]
        for name, dependency in dependencies.items():
            resource: Resource[Any] = detect_draft(dependency).specification.create_resource(dependency)
            resources += [(uri, resource) for uri in {name, f"./{name}", urljoin(base, name), resource.id() or name}]
        registry: Registry[Any] = Registry().with_resources(resources).crawl()
        for reference, resolver in _iterate_references(root, registry.resolver(base)):
            if not _is_resolvable(reference, resolver):
                raise InvalidSchema(
                    f'"{truncate_message(reference)}" is neither in the schema nor among its references, '
                    "and is not fetched",
                    at=_find_reference_pointer(contents, reference),
                )
    except (ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise InvalidSchema(f"the references of the schema cannot be followed: {problem}", at="") from None


def _iterate_references(root: Resource[Any], resolver: Any) -> Iterator[tuple[str, Any]]:
    """Yield every ``$ref`` of the schema itself, with the resolver for its base."""
    pending: list[tuple[Resource[Any], Any]] = [(root, resolver)]
    while pending:
        resource, base_resolver = pending.pop()
        contents = resource.contents
        if isinstance(contents, dict):
            yield from (
                (contents[keyword], base_resolver)
                for keyword in REFERENCE_KEYWORDS
                if isinstance(contents.get(keyword), str)
            )
        pending.extend(
            (subresource, base_resolver.in_subresource(subresource)) for subresource in resource.subresources()
        )


def _find_reference_pointer(contents: Any, reference: str) -> str:
    """Return the pointer to an occurrence of a reference in the text."""
    pending = [("", contents)]
    while pending:
        at, value = pending.pop()
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, member in members:
            if key in REFERENCE_KEYWORDS and member == reference:
                return join_pointer(at, key)
            pending.append((join_pointer(at, key), member))
    return ""


def _is_resolvable(reference: str, resolver: Any) -> bool:
    if is_meta_schema(reference):
        return True
    return any(_can_look_up(candidate, resolver) for candidate in (reference, *swap_definition_keywords(reference)))


def _can_look_up(reference: str, resolver: Any) -> bool:
    try:
        resolver.lookup(reference)
    except Unresolvable:
        return False
    return True
