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

from contractlog.compatibility.json_schema.nodes import (
    AlwaysNode,
    ArrayNode,
    BooleanNode,
    CombinedNode,
    ConditionalNode,
    ConstNode,
    EmptyNode,
    EnumNode,
    NeverNode,
    NotNode,
    NullNode,
    NumericNode,
    ObjectNode,
    OpaqueNode,
    ReferenceNode,
    ReferenceScope,
    SchemaNode,
    StringNode,
    Tokens,
    compute_target_digests,
)
from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.json_schema.reference_resolver import Documents, ResolutionContext, SchemaPosition
from contractlog.compatibility.json_schema.vocabulary import (
    COMBINING_KEYWORDS,
    DYNAMIC_REFERENCES,
    IGNORED_KEYWORDS,
    KEYWORDS_BY_TYPE,
    PERMITTING_KEYWORDS,
)
from contractlog.compatibility.json_text import Number, canonical_value
from contractlog.compatibility.memo import Memo

__all__ = ["build_tree"]

_MAX_SHARED_NESTING: Final = 4  #: deeper properties are not shared, which limits how often a schema text is serialized
_CHARACTERS_PER_WEIGHT: Final = 200  #: characters of a schema text per unit of weight in the memo

NodeFactory = Callable[..., SchemaNode]


def build_tree(schema: JsonSchema, referenced: Mapping[str, str], memo: Memo | None = None) -> SchemaNode:
    """Return the root of a schema's tree; references are resolved where they occur.

    Args:
        schema: the parsed schema.
        referenced: name -> text of every referenced schema.
        memo: caches the nodes of properties, which are shared with other versions.
    """
    return _TreeBuilder(Documents(schema, referenced), memo).root()


class _TreeBuilder:
    """Conversion of one schema."""

    def __init__(self, documents: Documents, memo: Memo | None) -> None:
        self.documents = documents
        self.memo = memo
        self.nesting = 0  #: number of enclosing named schemas
        self.scope = ReferenceScope()
        self.targets: dict[str, SchemaPosition] = {}
        self.references_by_target: dict[str, set[str]] = {}  #: location of a target -> locations that it refers to
        self.pending: list[str] = []
        self._current_references = set[str]()

    def root(self) -> SchemaNode:
        start = self.documents.root()
        root = self.build_node(start.contents, start.context)
        while self.pending:
            location = self.pending.pop()
            target = self.targets[location]
            self._current_references = self.references_by_target[location] = set()
            self.scope.targets[location] = self.build_node(target.contents, target.context)
        compute_target_digests(
            self.scope,
            {location: (target.context.draft.name, target.contents) for location, target in self.targets.items()},
            self.references_by_target,
        )
        return root

    def build_node(self, contents: Any, context: ResolutionContext) -> SchemaNode:
        """Make the node of a schema."""
        if not isinstance(contents, dict):
            return NeverNode() if contents is False else AlwaysNode() if contents is True else EmptyNode()
        context = self.documents.context_within(contents, context)
        metadata = _annotations(contents, context)
        is_old = context.draft.up_to_7
        effective = {
            keyword: value
            for keyword, value in contents.items()
            if keyword not in IGNORED_KEYWORDS[context.draft.name]
            and (is_old or (keyword, value) not in PERMITTING_KEYWORDS)
        }
        factories = [*self.reference_factories(effective, context)]
        if not factories or not is_old:
            factories += [
                *self.value_factories(effective),
                *self.combination_factories(effective, context),
                *self.type_factories(effective, context),
            ]
        if not factories:
            return EmptyNode(**metadata)
        if len(factories) == 1:
            return factories[0](**metadata)
        return CombinedNode(
            criterion="allOf",
            branches=tuple(factory() for factory in factories),
            paths=((),) * len(factories),
            generated=not is_old,
            **metadata,
        )

    def reference_factories(self, contents: dict[str, Any], context: ResolutionContext) -> Iterator[NodeFactory]:
        """Yield node constructors for references."""
        reference = contents.get("$ref")
        if isinstance(reference, str):
            yield self.reference_factory(reference, context)
        for keyword in DYNAMIC_REFERENCES:
            if not context.draft.up_to_7 and isinstance(contents.get(keyword), str):
                yield partial(OpaqueNode, keyword=keyword, target=contents[keyword])

    def reference_factory(self, reference: str, context: ResolutionContext) -> NodeFactory:
        target = self.documents.follow(reference, context)
        if target is None:
            return partial(OpaqueNode, keyword="$ref", target=reference)
        if target.location not in self.targets:
            self.targets[target.location] = target
            self.pending.append(target.location)
        self._current_references.add(target.location)
        return partial(ReferenceNode, location=target.location, scope=self.scope)

    def value_factories(self, contents: dict[str, Any]) -> Iterator[NodeFactory]:
        """Yield node constructors for ``enum`` and ``const``."""
        if isinstance(contents.get("enum"), list):
            yield partial(EnumNode, values=tuple(map(canonical_value, contents["enum"])))
        if "const" in contents:
            yield partial(ConstNode, value=canonical_value(contents["const"]))

    def combination_factories(self, contents: dict[str, Any], context: ResolutionContext) -> Iterator[NodeFactory]:
        """Yield node constructors for combinations, ``not`` and ``if``."""
        for keyword in COMBINING_KEYWORDS:
            if isinstance(contents.get(keyword), list):
                parts = [
                    part
                    for index, branch in enumerate(contents[keyword])
                    for part in _flatten_branch(
                        self.build_node(branch, context), (keyword, index), is_product=keyword == "allOf"
                    )
                ]
                branches, paths = (tuple(column) for column in zip(*parts, strict=True)) if parts else ((), ())
                yield partial(CombinedNode, criterion=keyword, branches=branches, paths=paths)
        if "not" in contents:
            yield partial(NotNode, body=self.build_node(contents["not"], context))
        if "if" in contents:
            keywords = {"condition": "if", "consequence": "then", "alternative": "else"}
            yield partial(ConditionalNode, **self.build_subschemas(contents, context, keywords))

    def type_factories(self, contents: dict[str, Any], context: ResolutionContext) -> Iterator[NodeFactory]:
        """Yield node constructors for ``type``, then for keyword families without their type."""
        types = contents.get("type")
        families = set[str]()
        if isinstance(types, list):
            factories = [self.factory_of_type(kind, contents, context) for kind in types if isinstance(kind, str)]
            families.update(map(_family_of_type, filter(_is_string, types)))
            branches = tuple(factory() for factory in factories)
            yield partial(CombinedNode, criterion="anyOf", branches=branches, paths=((),) * len(branches))
        elif isinstance(types, str):
            families.add(_family_of_type(types))
            yield self.factory_of_type(types, contents, context)
        for family, keywords in KEYWORDS_BY_TYPE.items():
            if family not in families and not keywords.isdisjoint(contents):
                yield self.factory_of_family(family, contents, context)
        if (
            types is None
            and context.draft.up_to_7
            and "format" in contents
            and KEYWORDS_BY_TYPE["string"].isdisjoint(contents)
        ):
            yield partial(StringNode, typed=False)

    def factory_of_type(self, kind: str, contents: dict[str, Any], context: ResolutionContext) -> NodeFactory:
        match kind:
            case "null":
                return NullNode
            case "boolean":
                return BooleanNode
            case "integer":
                return partial(self.factory_of_family("number", contents, context), typed=True, integer=True)
            case "object" | "array" | "number" | "string":
                return partial(self.factory_of_family(kind, contents, context), typed=True)
            case _:
                return EmptyNode

    def factory_of_family(self, family: str, contents: dict[str, Any], context: ResolutionContext) -> NodeFactory:
        builder = {
            "object": self.object_factory,
            "array": self.array_factory,
            "number": self.number_factory,
            "string": self.string_factory,
        }[family]
        return partial(builder(contents, context), typed=False)

    def string_factory(self, contents: dict[str, Any], _here: ResolutionContext) -> NodeFactory:
        return partial(
            StringNode,
            max_length=_number_or_none(contents, "maxLength"),
            min_length=_number_or_none(contents, "minLength"),
            pattern=_string_or_none(contents, "pattern"),
        )

    def number_factory(self, contents: dict[str, Any], _here: ResolutionContext) -> NodeFactory:
        return partial(
            NumericNode,
            maximum=_number_or_none(contents, "maximum"),
            minimum=_number_or_none(contents, "minimum"),
            exclusive_maximum=_number_or_none(contents, "exclusiveMaximum"),
            exclusive_minimum=_number_or_none(contents, "exclusiveMinimum"),
            maximum_excluded=contents.get("exclusiveMaximum") is True,
            minimum_excluded=contents.get("exclusiveMinimum") is True,
            multiple_of=_number_or_none(contents, "multipleOf"),
        )

    def object_factory(self, contents: dict[str, Any], context: ResolutionContext) -> NodeFactory:
        declared = contents.get("dependencies")
        dependencies = {**(declared if isinstance(declared, dict) else {})}
        names = _name_sets(dependencies) | _name_sets(contents.get("dependentRequired"))
        schemas = {key: value for key, value in dependencies.items() if not isinstance(value, list)}
        dependent_schemas = contents.get("dependentSchemas")
        is_old = context.draft.up_to_7
        keyword_names = {} if is_old else {"names": "dependentRequired", "schemas": "dependentSchemas"}
        required = contents.get("required")
        return partial(
            ObjectNode,
            properties=self.build_named_nodes(contents.get("properties"), context),
            required=tuple(filter(_is_string, required)) if isinstance(required, list) else (),
            pattern_properties=self.build_named_nodes(contents.get("patternProperties"), context),
            property_dependencies=names,
            schema_dependencies=self.build_named_nodes(
                schemas | (dependent_schemas if isinstance(dependent_schemas, dict) else {}), context
            ),
            max_properties=_number_or_none(contents, "maxProperties"),
            min_properties=_number_or_none(contents, "minProperties"),
            keyword_names=keyword_names,
            **self.build_subschemas(
                contents,
                context,
                {
                    "additional": "additionalProperties",
                    "unevaluated": "unevaluatedProperties",
                    "property_names": "propertyNames",
                },
            ),
        )

    def array_factory(self, contents: dict[str, Any], context: ResolutionContext) -> NodeFactory:
        is_old = context.draft.up_to_7
        item_schemas = contents.get("prefixItems") or contents.get("items")
        listed = (
            tuple(self.build_node(item, context) for item in item_schemas) if isinstance(item_schemas, list) else None
        )
        additional_keyword = "items" if context.draft.has_prefix_items else "additionalItems"
        keyword_names = {"listed": "prefixItems", "additional": "items"} if additional_keyword == "items" else {}
        schemas = {"contains": "contains", "unevaluated": "unevaluatedItems"}
        schemas |= {"additional": additional_keyword} if listed is not None else {"items": "items"}
        if additional_keyword == "additionalItems":
            schemas["additional"] = additional_keyword
        if listed is None and not is_old and isinstance(contents.get("items"), bool):
            del schemas["items"]
            if contents["items"] is False:  # as the reference implementation's second library does
                listed, keyword_names = (), {**keyword_names, "additional": "items"}
                schemas["additional"] = "items"
        counts_contains = "contains" in contents and not is_old
        if counts_contains and "minContains" not in contents:
            keyword_names = {**keyword_names, "least": "contains"}
        return partial(
            ArrayNode,
            listed=listed,
            max_items=_number_or_none(contents, "maxItems"),
            min_items=_number_or_none(contents, "minItems"),
            unique=contents.get("uniqueItems") is True,
            max_contains=_number_or_none(contents, "maxContains") if counts_contains else None,
            min_contains=(_number_or_none(contents, "minContains") or Decimal(1)) if counts_contains else None,
            keyword_names=keyword_names,
            **self.build_subschemas(contents, context, schemas),
        )

    def build_subschemas(
        self, contents: dict[str, Any], context: ResolutionContext, keywords: Mapping[str, str]
    ) -> dict[str, Any]:
        """Make the nodes of keywords that have a single schema."""
        return {
            member: self.build_node(contents[keyword], context)
            for member, keyword in keywords.items()
            if keyword in contents
        }

    def build_named_nodes(self, schemas: Any, context: ResolutionContext) -> dict[str, SchemaNode]:
        if not isinstance(schemas, dict):
            return {}
        self.nesting += 1
        nodes = {name: self.build_named_node(schema, context) for name, schema in schemas.items()}
        self.nesting -= 1
        return nodes

    def build_named_node(self, contents: Any, context: ResolutionContext) -> SchemaNode:
        """Make the node of a named schema, or share that of an equal text without references."""
        if self.memo is None or self.nesting > _MAX_SHARED_NESTING:
            return self.build_node(contents, context)
        text = repr(contents)
        if "$ref" in text:
            return self.build_node(contents, context)
        key = ("node", context.draft.name, text)
        shared: SchemaNode | None = self.memo.shapes.get(key)
        if shared is None:
            shared = self.memo.shapes.put(
                key, self.build_node(contents, context), 1 + len(text) // _CHARACTERS_PER_WEIGHT
            )
        return shared


def _flatten_branch(branch: SchemaNode, path: Tokens, *, is_product: bool) -> Iterator[tuple[SchemaNode, Tokens]]:
    """Yield a branch; a generated combination within an ``allOf`` is replaced by its families."""
    if is_product and isinstance(branch, CombinedNode) and branch.generated:
        yield from (
            (part, (*path, *inner_path)) for part, inner_path in zip(branch.branches, branch.paths, strict=True)
        )
    else:
        yield branch, path


def _annotations(contents: dict[str, Any], context: ResolutionContext) -> dict[str, Any]:
    identity = contents.get(context.draft.id_keyword)
    return {
        "id": identity if isinstance(identity, str) else None,
        "title": _string_or_none(contents, "title"),
        "description": _string_or_none(contents, "description"),
        "default": canonical_value(contents["default"]) if "default" in contents else None,
        "connect_type": _string_or_none(contents, "connect.type"),
    }


def _family_of_type(kind: str) -> str:
    return "number" if kind == "integer" else kind


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _number_or_none(contents: dict[str, Any], keyword: str) -> Decimal | None:
    value = contents.get(keyword)
    return value.decimal if isinstance(value, Number) else None


def _string_or_none(contents: dict[str, Any], keyword: str) -> str | None:
    value = contents.get(keyword)
    return value if isinstance(value, str) else None


def _name_sets(members: Any) -> dict[str, frozenset[str]]:
    if not isinstance(members, dict):
        return {}
    return {key: frozenset(filter(_is_string, names)) for key, names in members.items() if isinstance(names, list)}
