"""Conversion of a JSON schema to its tree: one node per keyword family, combined if there are several.

Several families in one schema become an ``allOf`` of their nodes, several types an ``anyOf``. Keywords of a type that
``type`` does not name make a node that does not require the type. Before 2019-09 the keywords next to a ``$ref`` do not
validate, so only annotations are kept there.

The reference implementation has one library for schemas up to draft 7 and another one for 2019-09 and 2020-12, and
their trees differ. In the later ones an ``allOf`` of several families is marked as a single schema, and its families
become branches of an enclosing ``allOf``; keywords that permit everything (``items: true``, ``properties: {}``) add
nothing; ``items: false`` closes an array like ``additionalItems: false``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final

from contractlog.compatibility.interning import Memo
from contractlog.compatibility.json_schema.closures import close
from contractlog.compatibility.json_schema.nodes import (
    Always,
    Array,
    Boolean,
    Combined,
    Conditional,
    Const,
    Empty,
    Enum,
    Never,
    Node,
    Not,
    Null,
    Numeric,
    Object,
    Opaque,
    Reference,
    Scope,
    String,
    Tokens,
    value_text,
)
from contractlog.compatibility.json_schema.parse import JsonSchema
from contractlog.compatibility.json_schema.resolve import Here, Target, Texts
from contractlog.compatibility.json_text import Number

__all__ = ["tree_of"]

_OLD: Final = frozenset({"draft-04", "draft-06", "draft-07"})
_CRITERIA: Final = ("allOf", "anyOf", "oneOf")
_STRING: Final = ("maxLength", "minLength", "pattern")
_NUMBER: Final = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf")
_OBJECT: Final = (
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "maxProperties",
    "minProperties",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
)
_ARRAY: Final = (
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxContains",
    "minContains",
)
_LATER: Final = frozenset(
    {"dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "maxContains", "minContains"}
)  #: keywords introduced in 2019-09
_UNKNOWN: Final[Mapping[str, frozenset[str]]] = {
    "draft-04": _LATER | {"prefixItems", "propertyNames", "contains", "const", "if"},
    "draft-06": _LATER | {"prefixItems", "if"},
    "draft-07": _LATER | {"prefixItems"},
    "2019-09": frozenset({"prefixItems", "dependencies"}),
    "2020-12": frozenset({"additionalItems", "dependencies"}),
}  #: keywords that a draft ignores

_PERMITTING: Final[tuple[tuple[str, Any], ...]] = (
    ("properties", {}),
    ("patternProperties", {}),
)  #: these do not even add a family since 2019-09
_FAMILIES: Final = tuple(
    (family, frozenset(words))
    for family, words in (("object", _OBJECT), ("array", _ARRAY), ("number", _NUMBER), ("string", _STRING))
)

_SHARED_NESTING: Final = 4  #: deeper properties are not shared, which limits how often a text is serialized
_CHARACTERS_EACH: Final = 200  #: characters of a schema text per unit of weight in the memo

Make = Callable[..., Node]


def tree_of(schema: JsonSchema, referenced: Mapping[str, str], memo: Memo | None = None) -> Node:
    """Return the root of a schema's tree; references are resolved where they occur.

    Args:
        schema: the parsed schema.
        referenced: name -> text of every referenced schema.
        memo: caches the nodes of properties, which are shared with other versions.
    """
    return _Reading(Texts(schema, referenced), memo).root()


class _Reading:
    """Conversion of one schema."""

    def __init__(self, texts: Texts, memo: Memo | None) -> None:
        self.texts = texts
        self.memo = memo
        self.nesting = 0  #: number of enclosing named schemas
        self.scope = Scope()
        self.targets: dict[str, Target] = {}
        self.leads: dict[str, set[str]] = {}  #: location of a target -> locations that it refers to
        self.waiting: list[str] = []
        self._leading = set[str]()

    def root(self) -> Node:
        start = self.texts.root()
        root = self.node(start.contents, start.here)
        while self.waiting:
            place = self.waiting.pop()
            target = self.targets[place]
            self._leading = self.leads[place] = set()
            self.scope.targets[place] = self.node(target.contents, target.here)
        close(
            self.scope,
            {place: (target.here.draft.name, target.contents) for place, target in self.targets.items()},
            self.leads,
        )
        return root

    def node(self, contents: Any, here: Here) -> Node:
        """Make the node of a schema."""
        if not isinstance(contents, dict):
            return Never() if contents is False else Always() if contents is True else Empty()
        here = self.texts.inside(contents, here)
        beside = _annotations(contents, here)
        is_old = here.draft.name in _OLD
        known = {
            word: value
            for word, value in contents.items()
            if word not in _UNKNOWN[here.draft.name] and (is_old or (word, value) not in _PERMITTING)
        }
        makes = [*self.references(known, here)]
        if not makes or not is_old:
            makes += [*self.values(known), *self.combined(known, here), *self.typed(known, here)]
        if not makes:
            return Empty(**beside)
        if len(makes) == 1:
            return makes[0](**beside)
        return Combined(
            criterion="allOf",
            branches=tuple(make() for make in makes),
            places=((),) * len(makes),
            generated=not is_old,
            **beside,
        )

    def references(self, contents: dict[str, Any], here: Here) -> Iterator[Make]:
        """Yield node constructors for references."""
        reference = contents.get("$ref")
        if isinstance(reference, str):
            yield self.reference(reference, here)
        for word in ("$dynamicRef", "$recursiveRef"):
            if here.draft.name not in _OLD and isinstance(contents.get(word), str):
                yield partial(Opaque, word=word, target=contents[word])

    def reference(self, reference: str, here: Here) -> Make:
        target = self.texts.follow(reference, here)
        if target is None:
            return partial(Opaque, word="$ref", target=reference)
        if target.place not in self.targets:
            self.targets[target.place] = target
            self.waiting.append(target.place)
        self._leading.add(target.place)
        return partial(Reference, place=target.place, scope=self.scope)

    def values(self, contents: dict[str, Any]) -> Iterator[Make]:
        """Yield node constructors for ``enum`` and ``const``."""
        if isinstance(contents.get("enum"), list):
            yield partial(Enum, values=tuple(map(value_text, contents["enum"])))
        if "const" in contents:
            yield partial(Const, value=value_text(contents["const"]))

    def combined(self, contents: dict[str, Any], here: Here) -> Iterator[Make]:
        """Yield node constructors for combinations, ``not`` and ``if``."""
        for word in _CRITERIA:
            if isinstance(contents.get(word), list):
                parts = [
                    part
                    for index, branch in enumerate(contents[word])
                    for part in _branches(self.node(branch, here), (word, index), is_product=word == "allOf")
                ]
                branches, places = (tuple(column) for column in zip(*parts, strict=True)) if parts else ((), ())
                yield partial(Combined, criterion=word, branches=branches, places=places)
        if "not" in contents:
            yield partial(Not, body=self.node(contents["not"], here))
        if "if" in contents:
            words = {"condition": "if", "consequence": "then", "alternative": "else"}
            yield partial(Conditional, **self.below(contents, here, words))

    def typed(self, contents: dict[str, Any], here: Here) -> Iterator[Make]:
        """Yield node constructors for ``type``, then for keyword families without their type."""
        named = contents.get("type")
        families = set[str]()
        if isinstance(named, list):
            makes = [self.of_type(kind, contents, here) for kind in named if isinstance(kind, str)]
            families.update(map(_family, filter(_is_text, named)))
            branches = tuple(make() for make in makes)
            yield partial(Combined, criterion="anyOf", branches=branches, places=((),) * len(branches))
        elif isinstance(named, str):
            families.add(_family(named))
            yield self.of_type(named, contents, here)
        for family, words in _FAMILIES:
            if family not in families and not words.isdisjoint(contents):
                yield self.of_family(family, contents, here)
        if named is None and here.draft.name in _OLD and "format" in contents and not _mentions(contents, _STRING):
            yield partial(String, typed=False)

    def of_type(self, kind: str, contents: dict[str, Any], here: Here) -> Make:
        match kind:
            case "null":
                return Null
            case "boolean":
                return Boolean
            case "integer":
                return partial(self.of_family("number", contents, here), typed=True, integer=True)
            case "object" | "array" | "number" | "string":
                return partial(self.of_family(kind, contents, here), typed=True)
            case _:
                return Empty

    def of_family(self, family: str, contents: dict[str, Any], here: Here) -> Make:
        make = {"object": self.object, "array": self.array, "number": self.number, "string": self.string}[family]
        return partial(make(contents, here), typed=False)

    def string(self, contents: dict[str, Any], _here: Here) -> Make:
        return partial(
            String,
            max_length=_number(contents, "maxLength"),
            min_length=_number(contents, "minLength"),
            pattern=_text(contents, "pattern"),
        )

    def number(self, contents: dict[str, Any], _here: Here) -> Make:
        return partial(
            Numeric,
            maximum=_number(contents, "maximum"),
            minimum=_number(contents, "minimum"),
            exclusive_maximum=_number(contents, "exclusiveMaximum"),
            exclusive_minimum=_number(contents, "exclusiveMinimum"),
            maximum_excluded=contents.get("exclusiveMaximum") is True,
            minimum_excluded=contents.get("exclusiveMinimum") is True,
            multiple_of=_number(contents, "multipleOf"),
        )

    def object(self, contents: dict[str, Any], here: Here) -> Make:
        old = contents.get("dependencies")
        dependencies = {**(old if isinstance(old, dict) else {})}
        names = _lists(dependencies) | _lists(contents.get("dependentRequired"))
        schemas = {key: value for key, value in dependencies.items() if not isinstance(value, list)}
        later = contents.get("dependentSchemas")
        is_old = here.draft.name in _OLD
        words = {} if is_old else {"names": "dependentRequired", "schemas": "dependentSchemas"}
        required = contents.get("required")
        return partial(
            Object,
            properties=self.by_name(contents.get("properties"), here),
            required=tuple(filter(_is_text, required)) if isinstance(required, list) else (),
            pattern_properties=self.by_name(contents.get("patternProperties"), here),
            property_dependencies=names,
            schema_dependencies=self.by_name(schemas | (later if isinstance(later, dict) else {}), here),
            max_properties=_number(contents, "maxProperties"),
            min_properties=_number(contents, "minProperties"),
            words=words,
            **self.below(
                contents,
                here,
                {
                    "additional": "additionalProperties",
                    "unevaluated": "unevaluatedProperties",
                    "property_names": "propertyNames",
                },
            ),
        )

    def array(self, contents: dict[str, Any], here: Here) -> Make:
        is_old = here.draft.name in _OLD
        named = contents.get("prefixItems") or contents.get("items")
        listed = tuple(self.node(item, here) for item in named) if isinstance(named, list) else None
        behind = "items" if here.draft.name == "2020-12" else "additionalItems"
        words = {"listed": "prefixItems", "additional": "items"} if behind == "items" else {}
        schemas = {"contains": "contains", "unevaluated": "unevaluatedItems"}
        schemas |= {"additional": behind} if listed is not None else {"items": "items"}
        if behind == "additionalItems":
            schemas["additional"] = behind
        if listed is None and not is_old and isinstance(contents.get("items"), bool):
            del schemas["items"]
            if contents["items"] is False:  # as the reference implementation's second library does
                listed, words = (), {**words, "additional": "items"}
                schemas["additional"] = "items"
        counted = "contains" in contents and not is_old
        if counted and "minContains" not in contents:
            words = {**words, "least": "contains"}
        return partial(
            Array,
            listed=listed,
            max_items=_number(contents, "maxItems"),
            min_items=_number(contents, "minItems"),
            unique=contents.get("uniqueItems") is True,
            max_contains=_number(contents, "maxContains") if counted else None,
            min_contains=(_number(contents, "minContains") or Decimal(1)) if counted else None,
            words=words,
            **self.below(contents, here, schemas),
        )

    def below(self, contents: dict[str, Any], here: Here, words: Mapping[str, str]) -> dict[str, Any]:
        """Make the nodes of keywords that have a single schema."""
        return {member: self.node(contents[word], here) for member, word in words.items() if word in contents}

    def by_name(self, schemas: Any, here: Here) -> dict[str, Node]:
        if not isinstance(schemas, dict):
            return {}
        self.nesting += 1
        nodes = {name: self.named(schema, here) for name, schema in schemas.items()}
        self.nesting -= 1
        return nodes

    def named(self, contents: Any, here: Here) -> Node:
        """Make the node of a named schema, or share that of an equal text without references."""
        if self.memo is None or self.nesting > _SHARED_NESTING:
            return self.node(contents, here)
        written = repr(contents)
        if "$ref" in written:
            return self.node(contents, here)
        key = ("node", here.draft.name, written)
        known: Node | None = self.memo.shapes.held.get(key)
        if known is None:
            known = self.memo.shapes.put(key, self.node(contents, here), 1 + len(written) // _CHARACTERS_EACH)
        return known


def _branches(branch: Node, place: Tokens, *, is_product: bool) -> Iterator[tuple[Node, Tokens]]:
    """Yield a branch; a generated combination within an ``allOf`` is replaced by its families."""
    if is_product and isinstance(branch, Combined) and branch.generated:
        yield from ((part, (*place, *inside)) for part, inside in zip(branch.branches, branch.places, strict=True))
    else:
        yield branch, place


def _annotations(contents: dict[str, Any], here: Here) -> dict[str, Any]:
    identity = contents.get("id" if here.draft.name == "draft-04" else "$id")
    return {
        "id": identity if isinstance(identity, str) else None,
        "title": _text(contents, "title"),
        "description": _text(contents, "description"),
        "default": value_text(contents["default"]) if "default" in contents else None,
        "connect_type": _text(contents, "connect.type"),
    }


def _family(kind: str) -> str:
    return "number" if kind == "integer" else kind


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _mentions(contents: dict[str, Any], words: tuple[str, ...]) -> bool:
    return any(word in contents for word in words)


def _number(contents: dict[str, Any], word: str) -> Decimal | None:
    value = contents.get(word)
    return value.decimal if isinstance(value, Number) else None


def _text(contents: dict[str, Any], word: str) -> str | None:
    value = contents.get(word)
    return value if isinstance(value, str) else None


def _lists(members: Any) -> dict[str, frozenset[str]]:
    if not isinstance(members, dict):
        return {}
    return {key: frozenset(filter(_is_text, names)) for key, names in members.items() if isinstance(names, list)}
