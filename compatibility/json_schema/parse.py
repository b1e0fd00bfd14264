"""JSON Schema parser: the draft, the JSON value, and validation of references without fetching.

A dependency is found by the name of the reference, unchanged or relative to the schema's ``$id``, or by the ``$id`` of
its own text. A ``$ref`` to anything else is rejected: nothing here opens a URL or a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jsonschema_rs
from referencing import Registry, Resource, Specification
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.addresses import urldefrag, urljoin
from contractlog.compatibility.json_text import outside_strings, plain, pointer, read
from contractlog.compatibility.limits import check_referenced, shortened

__all__ = [
    "DRAFTS",
    "Draft",
    "JsonSchema",
    "bridges",
    "draft_of",
    "find_problem",
    "invalid",
    "is_meta_schema",
    "parse_json_schema",
]


@dataclass(frozen=True, slots=True)
class Draft:
    """A version of JSON Schema."""

    name: str
    uri: str  #: value of ``$schema``, without an empty fragment
    specification: Specification[Any]


DRAFTS: Final = (
    Draft("draft-04", "http://json-schema.org/draft-04/schema", DRAFT4),
    Draft("draft-06", "http://json-schema.org/draft-06/schema", DRAFT6),
    Draft("draft-07", "http://json-schema.org/draft-07/schema", DRAFT7),
    Draft("2019-09", "https://json-schema.org/draft/2019-09/schema", DRAFT201909),
    Draft("2020-12", "https://json-schema.org/draft/2020-12/schema", DRAFT202012),
)
_DEFAULT: Final = DRAFTS[2]
_BY_URI: Final = {draft.uri.partition(":")[2]: draft for draft in DRAFTS}
_BRIDGED: Final = ("#/definitions/", "#/$defs/")
MAX_OBJECTS: Final = 20_000
"""Maximum number of objects in one text.

A node of the tree takes about a kilobyte and 30 microseconds to make and to meet, so 100,000 of them take over two
seconds and 200 MB. Equal parts cannot be made once: each knows its place, and a ``$ref`` in it its base.
"""
_POINTING: Final = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class JsonSchema:
    """A parsed JSON Schema."""

    value: Any  #: parsed JSON; numbers are ``Number``
    draft: Draft
    inner_ids: bool = True  #: False only if no part has its own id
    made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  #: cache of derived values


def draft_of(value: Any) -> Draft:
    """Return the draft that ``$schema`` names; draft 7 if it is absent or unknown."""
    named = value.get("$schema") if isinstance(value, dict) else None
    if not isinstance(named, str):
        return _DEFAULT
    return _BY_URI.get(named.removesuffix("#").partition(":")[2], _DEFAULT)


def parse_json_schema(text: str, referenced: Mapping[str, str]) -> JsonSchema:
    """Parse a JSON Schema without validating it against its meta-schema or resolving its references.

    Args:
        text: the schema.
        referenced: name -> text of every dependency.

    Raises:
        InvalidSchema: not a valid schema; ``at`` points to the position.
    """
    check_referenced(referenced)
    if text.count("{") > MAX_OBJECTS and outside_strings(text).count("{") > MAX_OBJECTS:
        raise InvalidSchema(f"the schema has more than {MAX_OBJECTS} objects", at="")
    value = read(text)
    if not isinstance(value, (dict, bool)):
        raise InvalidSchema("the root of a JSON schema is an object, true or false", at="")
    draft = draft_of(value)
    for name, other in referenced.items():
        _read(name, other)
    return JsonSchema(value, draft, _may_have_inner_ids(text, value, draft))


def find_problem(schema: JsonSchema, referenced: Mapping[str, str]) -> InvalidSchema | None:
    """Return the meta-schema violation or unresolvable ``$ref`` of a schema; None if there is none."""
    try:
        contents = plain(schema.value)
        _check_against_draft(contents, schema.draft)
        leaned_on = {name: plain(_read(name, other)) for name, other in referenced.items()}
        _find_references(contents, schema.draft, leaned_on)
    except InvalidSchema as problem:
        return problem
    return None


def is_meta_schema(reference: str) -> bool:
    """Return True if a reference is to the meta-schema of a draft."""
    return urldefrag(reference).url.partition(":")[2] in _BY_URI


def _may_have_inner_ids(text: str, value: Any, draft: Draft) -> bool:
    """Return True if a part of the text may have its own id.

    The text is searched for the keyword, which is much faster than visiting all objects.
    """
    word = "id" if draft.name == "draft-04" else "$id"
    own = isinstance(value, dict) and word in value
    return "\\u" in text or text.count(f'"{word}"') > own


def invalid(schema: JsonSchema, referenced: Mapping[str, str]) -> InvalidSchema | None:
    """Return the meta-schema violation of a stored schema or a dependency; None if all are valid."""
    if "invalid" not in schema.made:
        try:
            _check_against_draft(plain(schema.value), schema.draft)
            for name, text in referenced.items():
                other = _read(name, text)
                _check_against_draft(plain(other), draft_of(other))
            schema.made["invalid"] = None
        except InvalidSchema as problem:
            schema.made["invalid"] = problem
    found: InvalidSchema | None = schema.made["invalid"]
    return found


def _read(name: str, text: str) -> Any:
    try:
        value = read(text)
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
        at = pointer("", *problem.instance_path)
        raise InvalidSchema(f"not a schema of {draft.name}: {shortened(problem.message)}", at=at) from None
    except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as problem:
        raise InvalidSchema(f"not a schema of {draft.name}: {shortened(str(problem))}", at="") from None


def _find_references(contents: Any, draft: Draft, leaned_on: Mapping[str, Any]) -> None:
    try:
        root: Resource[Any] = draft.specification.create_resource(contents)
        base = root.id() or ""
        resources = [(base, root)]
        for name, other in leaned_on.items():
            resource: Resource[Any] = draft_of(other).specification.create_resource(other)
            resources += [(uri, resource) for uri in {name, f"./{name}", urljoin(base, name), resource.id() or name}]
        registry: Registry[Any] = Registry().with_resources(resources).crawl()
        for reference, resolver in _references(root, registry.resolver(base)):
            if not _resolves(reference, resolver):
                raise InvalidSchema(
                    f'"{shortened(reference)}" is neither in the schema nor among its references, and is not fetched',
                    at=_place(contents, reference),
                )
    except (ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise InvalidSchema(f"the references of the schema cannot be followed: {problem}", at="") from None


def _references(root: Resource[Any], resolver: Any) -> Iterator[tuple[str, Any]]:
    """Yield every ``$ref`` of the schema itself, with the resolver for its base."""
    waiting: list[tuple[Resource[Any], Any]] = [(root, resolver)]
    while waiting:
        resource, here = waiting.pop()
        contents = resource.contents
        if isinstance(contents, dict):
            yield from ((contents[word], here) for word in _POINTING if isinstance(contents.get(word), str))
        waiting.extend((inner, here.in_subresource(inner)) for inner in resource.subresources())


def _place(contents: Any, reference: str) -> str:
    """Return the pointer to an occurrence of a reference in the text."""
    waiting = [("", contents)]
    while waiting:
        at, value = waiting.pop()
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, member in members:
            if key in _POINTING and member == reference:
                return pointer(at, key)
            waiting.append((pointer(at, key), member))
    return ""


def _resolves(reference: str, resolver: Any) -> bool:
    if is_meta_schema(reference):
        return True
    return any(_finds(candidate, resolver) for candidate in (reference, *bridges(reference)))


def _finds(reference: str, resolver: Any) -> bool:
    try:
        resolver.lookup(reference)
    except Unresolvable:
        return False
    return True


def bridges(reference: str) -> Iterator[str]:
    """Yield the reference with ``definitions`` and ``$defs`` exchanged: either name finds the other."""
    for one, other in (_BRIDGED, _BRIDGED[::-1]):
        if one in reference:
            yield reference.replace(one, other, 1)
