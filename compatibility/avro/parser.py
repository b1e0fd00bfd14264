"""Avro parser that accepts what the reference implementation accepts.

Strict mode is for new schemas: ASCII names, defaults that fit their types. Tolerant mode is for stored schemas and
dependencies: names of letters and digits of any script, unchecked defaults. In both modes a name may be used before its
definition, a type may be defined twice if both definitions agree, and a malformed logical type is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.compatibility.avro.canonical_form import format_definition, format_java_number
from contractlog.compatibility.avro.default_validation import SpecialFloat, check_defaults
from contractlog.compatibility.avro.names import check_full_name, check_name, qualify_name
from contractlog.compatibility.avro.types import (
    MISSING,
    NAMED_TYPES,
    NO_PROPS,
    PRIMITIVES,
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    TypeName,
    Union,
)
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import Number, join_pointer, parse_json
from contractlog.compatibility.limits import check_dependencies, truncate_message

__all__ = ["AvroLimits", "parse_avro"]

_TYPE_KEYWORDS: Final = frozenset(
    {"type", "name", "namespace", "doc", "fields", "items", "values", "symbols", "size", "aliases"}
)
_ENUM_KEYWORDS: Final = _TYPE_KEYWORDS | {"default"}
_FIELD_KEYWORDS: Final = frozenset({"type", "name", "doc", "default", "order", "aliases"})
_ORDERS: Final = frozenset({"ascending", "descending", "ignore"})
_FLOATING: Final = frozenset({"float", "double"})
_MAX_FIXED_SIZE: Final = 2**31 - 9  #: maximum array length in Java
_LONG_BOUND: Final = 2**63
_NAME_AND_TYPE: Final = 2  #: members of most fields

_Common = tuple[str, Mapping[str, Any], str, tuple[str, ...], str | None]  #: pointer, properties, name, aliases, doc


@dataclass(frozen=True, slots=True)
class AvroLimits:
    """Size limits of a schema together with its dependencies."""

    named_types: int = 10_000
    fields: int = 20_000
    branches: int = 1_000  #: in one union
    symbols: int = 50_000


_LIMITS: Final = AvroLimits()


def parse_avro(
    text: str, referenced: Mapping[str, str], *, strict: bool, partial: bool = False, limits: AvroLimits = _LIMITS
) -> tuple[AvroSchema, set[str]]:
    """Parse an Avro schema and all its dependencies.

    Args:
        text: the schema.
        referenced: name -> text of every dependency.
        strict: apply the rules for new schemas.
        partial: dependencies may be missing: names without a definition stay unresolved, and defaults are not checked.
        limits: size limits.

    Returns:
        The schema, and the full names of the types at the roots of its references: they stay names in its text.

    Raises:
        InvalidSchema: not a valid schema; ``at`` is the position, in a referenced schema as ``NAME#POINTER``.
    """
    check_dependencies(referenced)
    parser = _Parser(limits, partial=partial)
    roots = [parser.parse_text(dependency, at=f"{name}#", strict=False) for name, dependency in referenced.items()]
    referenced_names = {root.name for root in roots if isinstance(root, (NamedType, TypeName))}
    return AvroSchema(parser.parse_text(text, at="", strict=strict), parser.types), referenced_names


@dataclass(slots=True)
class _Parser:
    """State of one parse: the types so far, and the counts for the limits."""

    limits: AvroLimits
    partial: bool = False
    types: dict[str, NamedType] = field(default_factory=dict)
    strict: bool = True
    counts: dict[str, int] = field(default_factory=dict)
    open_definitions: set[str] = field(default_factory=set)  #: full names of the enclosing definitions
    undefined: dict[str, str] = field(default_factory=dict)  #: names used before their definition -> first use
    redefinitions: list[NamedType] = field(default_factory=list)
    fields_with_default: list[Field] = field(default_factory=list)

    def parse_text(self, text: str, *, at: str, strict: bool) -> AvroType:
        """Parse one text; errors are located in it, prefixed by the reference name for a dependency."""
        self.strict, self.undefined, self.redefinitions, self.fields_with_default = strict, {}, [], []
        try:
            return self.check_definitions(self.parse_type(parse_json(text, comments=True), at, ""))
        except InvalidSchema as problem:
            pointer_to_problem = problem.at if problem.at.startswith(at) else at + problem.at
            raise InvalidSchema(
                truncate_message(problem.message), **problem.facts | {"at": pointer_to_problem}
            ) from None

    def check_definitions(self, root: AvroType) -> AvroType:
        """Check that every name is defined, repeated definitions agree, and every default fits."""
        missing = {name: first_use for name, first_use in self.undefined.items() if name not in self.types}
        if missing and not self.partial:
            name, first_use = next(iter(missing.items()))
            raise InvalidSchema(f'the type "{name}" is not defined', at=first_use)
        for redefinition in self.redefinitions:
            if format_definition(redefinition) != format_definition(self.types[redefinition.name]):
                raise InvalidSchema(
                    f'the type "{redefinition.name}" is defined twice, and differently',
                    at=redefinition.at,
                    redefined=redefinition.name,
                )
        if self.strict and not missing:
            check_defaults(AvroSchema(root, self.types), self.fields_with_default)
        return root

    def parse_type(self, value: Any, at: str, namespace: str) -> AvroType:
        """Parse any type."""
        if isinstance(value, str):
            return self.resolve_name(value, at, namespace)
        if isinstance(value, list):
            return self.parse_union(value, at, namespace)
        if isinstance(value, dict):
            return self.parse_object(value, at, namespace)
        raise InvalidSchema("a type is a name, an object or a list of types", at=at)

    def resolve_name(self, name: str, at: str, namespace: str) -> AvroType:
        """Resolve a name: a primitive, a type in the enclosing namespace, else one without namespace."""
        if name in PRIMITIVES:
            return Primitive(at, NO_PROPS, name)
        full = f"{namespace}.{name}" if namespace and "." not in name else name
        defined_without_namespace = name in self.types or (name in self.open_definitions and not self.strict)
        resolved = (
            name if defined_without_namespace and full not in self.types and full not in self.open_definitions else full
        )
        if resolved not in self.types and resolved not in self.open_definitions:
            self.undefined.setdefault(resolved, at)
        return TypeName(at, NO_PROPS, resolved)

    def parse_object(self, value: dict[str, Any], at: str, namespace: str) -> AvroType:
        """Parse a type written as an object."""
        kind = value.get("type")
        if not isinstance(kind, str):
            raise InvalidSchema('an object that describes a type needs a "type" that is a name', at=at)
        if kind in PRIMITIVES:
            return Primitive(at, _select_props(value, _TYPE_KEYWORDS), kind)
        if kind == "array":
            items = self.parse_type(_require_member(value, "items", "array", at), f"{at}/items", namespace)
            return Array(at, _select_type_props(value, at, kind), items)
        if kind == "map":
            values = self.parse_type(_require_member(value, "values", "map", at), f"{at}/values", namespace)
            return Map(at, _select_type_props(value, at, kind), values)
        if kind in NAMED_TYPES:
            return self.parse_definition(value, kind, at, namespace)
        return self.resolve_name(kind, at, namespace)

    def parse_union(self, value: list[Any], at: str, namespace: str) -> Union:
        """Parse a union; a branch must not be a union or occur twice."""
        if len(value) > self.limits.branches:
            raise InvalidSchema(f"a union of {len(value)} branches is over the limit of {self.limits.branches}", at=at)
        branches: list[AvroType] = []
        branch_names: set[str] = set()
        for index, branch in enumerate(value):
            if isinstance(branch, str) and branch in PRIMITIVES and branch not in branch_names:
                branch_names.add(branch)
                branches.append(Primitive(f"{at}/{index}", NO_PROPS, branch))
                continue
            node = self.parse_type(branch, f"{at}/{index}", namespace)
            if isinstance(node, Union):
                raise InvalidSchema("a union cannot be a branch of a union", at=node.at)
            name = node.type if isinstance(node, Primitive) else _branch_name(node)
            if name in branch_names:
                raise InvalidSchema(f'the union has the branch "{name}" twice', at=node.at)
            branch_names.add(name)
            branches.append(node)
        return Union(at, NO_PROPS, tuple(branches))

    def parse_definition(self, value: dict[str, Any], kind: str, at: str, namespace: str) -> AvroType:
        """Parse a definition and register it under its name."""
        name = self.parse_full_name(value, kind, at, namespace)
        space = name.rpartition(".")[0]
        self.check_count("named types", self.limits.named_types, at)
        first = name not in self.types and name not in self.open_definitions
        self.open_definitions.add(name)
        make = {"enum": self.parse_enum, "fixed": self.parse_fixed}.get(kind, self.parse_record)
        doc = value.get("doc")
        aliases = tuple(self.parse_aliases(value, at, space)) if "aliases" in value else ()
        props = _select_props(value, _ENUM_KEYWORDS) if kind == "enum" else _select_type_props(value, at, kind)
        node = make(value, (at, props, name, aliases, doc if isinstance(doc, str) else None))
        if not first:
            self.redefinitions.append(node)
            return TypeName(at, NO_PROPS, name)
        self.open_definitions.discard(name)
        self.types[name] = node
        return node

    def parse_record(self, value: dict[str, Any], common: _Common) -> Record:
        """Parse the fields; names must be unique."""
        at, _, name, *_ = common
        entries = value.get("fields")
        if not isinstance(entries, list):
            raise InvalidSchema('a record needs "fields", a list', at=at)
        self.check_count("fields", self.limits.fields, at, len(entries))
        space = name.rpartition(".")[0]
        fields: dict[str, Field] = {}
        for index, entry in enumerate(entries):
            member = self.parse_field(entry, f"{at}/fields/{index}", space)
            if member.name in fields:
                raise InvalidSchema(f'the record has the field "{member.name}" twice', at=member.at)
            fields[member.name] = member
        if self.strict:
            self.fields_with_default.extend([member for member in fields.values() if member.default is not MISSING])
        return Record(*common, tuple(fields.values()), value["type"] == "error")

    def parse_field(self, entry: Any, at: str, namespace: str) -> Field:
        """Parse a field."""
        if not isinstance(entry, dict):
            raise InvalidSchema("a field is an object", at=at)
        name = entry.get("name")
        if not isinstance(name, str):
            raise InvalidSchema('a field needs a "name"', at=at)
        if not (name.isidentifier() and name.isascii()):
            check_name(name, "field", at, "name", strict=self.strict)
        if "type" not in entry:
            raise InvalidSchema(f'the field "{name}" needs a "type"', at=at)
        kind = entry["type"]
        order = entry.get("order", "ascending")
        if not (isinstance(order, str) and order.lower() in _ORDERS):
            raise InvalidSchema('an "order" is ascending, descending or ignore', at=join_pointer(at, "order"))
        if isinstance(kind, str) and kind in PRIMITIVES:
            node: AvroType = Primitive(at + "/type", NO_PROPS, kind)
        else:
            node = self.parse_type(kind, at + "/type", namespace)
        if len(entry) == _NAME_AND_TYPE:
            return Field(name, node, at, NO_PROPS)
        doc = entry.get("doc")
        default = entry.get("default", MISSING)
        if isinstance(default, str) and isinstance(node, Primitive) and node.type in _FLOATING:
            default = _parse_float_default(default, at)
        return Field(
            name,
            node,
            at,
            NO_PROPS if _FIELD_KEYWORDS.issuperset(entry) else _select_props(entry, _FIELD_KEYWORDS),
            default,
            doc if isinstance(doc, str) else None,
            order.lower(),
            tuple(dict.fromkeys(_parse_aliases(entry, at))) if "aliases" in entry else (),
        )

    def parse_enum(self, value: dict[str, Any], common: _Common) -> Enum:
        """Parse the symbols; they must be unique and include the default."""
        at, *_ = common
        entries = value.get("symbols")
        if not isinstance(entries, list):
            raise InvalidSchema('an enum needs "symbols", a list', at=at)
        self.check_count("symbols", self.limits.symbols, at, len(entries))
        symbols: dict[str, None] = {}
        for index, symbol in enumerate(entries):
            if not isinstance(symbol, str):
                raise InvalidSchema("a symbol is a name", at=join_pointer(at, "symbols", index))
            if not (symbol.isidentifier() and symbol.isascii()):
                check_name(symbol, "symbol", at, "symbols", index, strict=self.strict)
            if symbol in symbols:
                raise InvalidSchema(f'the enum has the symbol "{symbol}" twice', at=join_pointer(at, "symbols", index))
            symbols[symbol] = None
        default = value.get("default")
        if isinstance(default, str) and default not in symbols:
            raise InvalidSchema(f'the default "{default}" is not a symbol of the enum', at=join_pointer(at, "default"))
        default = default if isinstance(default, str) else None
        return Enum(*common, tuple(symbols), default)

    def parse_fixed(self, value: dict[str, Any], common: _Common) -> Fixed:
        """Parse the size."""
        size = value.get("size")
        if not (isinstance(size, Number) and size.integral and 0 <= size.value <= _MAX_FIXED_SIZE):
            raise InvalidSchema('a fixed needs a "size", a number of bytes', at=common[0])
        return Fixed(*common, int(size.value))

    def parse_full_name(self, value: dict[str, Any], kind: str, at: str, namespace: str) -> str:
        """Return the full name of a definition; a dotted name has its own namespace."""
        name, space = value.get("name"), value.get("namespace")
        if not isinstance(name, str):
            raise InvalidSchema(f'a type "{kind}" needs a "name"', at=at)
        full = qualify_name(name, space if isinstance(space, str) else namespace)
        check_full_name(full, join_pointer(at, "name"), strict=self.strict)
        return full

    def parse_aliases(self, value: dict[str, Any], at: str, namespace: str) -> dict[str, None]:
        """Parse the aliases: alternative names of this type in a writer schema."""
        names: dict[str, None] = {}
        for alias in _parse_aliases(value, at):
            full = qualify_name(alias, namespace)
            check_name(full.rpartition(".")[2], "type", join_pointer(at, "aliases"), strict=self.strict)
            names[full] = None
        return names

    def check_count(self, what: str, limit: int, at: str, more: int = 1) -> None:
        """Count elements and enforce a limit, against hostile schemas."""
        total = self.counts[what] = self.counts.get(what, 0) + more
        if total > limit:
            raise InvalidSchema(f"the schema has more than {limit} {what}", at=at)


def _branch_name(node: AvroType) -> str:
    return node.name if isinstance(node, (NamedType, TypeName)) else node.kind.lower()


def _require_member(value: dict[str, Any], keyword: str, kind: str, at: str) -> Any:
    if keyword not in value:
        raise InvalidSchema(f'a type "{kind}" needs "{keyword}"', at=at)
    return value[keyword]


def _parse_aliases(value: dict[str, Any], at: str) -> list[str]:
    aliases = value.get("aliases", [])
    if not (isinstance(aliases, list) and all(isinstance(alias, str) for alias in aliases)):
        raise InvalidSchema('"aliases" is a list of names', at=join_pointer(at, "aliases"))
    return aliases


def _select_props(value: dict[str, Any], keywords: frozenset[str]) -> Mapping[str, Any]:
    if keywords.issuperset(value):
        return NO_PROPS
    return {keyword: member for keyword, member in value.items() if keyword not in keywords}


def _select_type_props(value: dict[str, Any], at: str, kind: str) -> Mapping[str, Any]:
    """Return the custom properties of a type.

    Except for ``fixed``, integers of more than 64 bits are rejected, since the reference implementation does not
    support them.
    """
    props = _select_props(value, _TYPE_KEYWORDS)
    for keyword, member in props.items() if kind != "fixed" else ():
        if isinstance(member, Number) and member.integral and not -_LONG_BOUND <= member.value < _LONG_BOUND:
            raise InvalidSchema(
                f'the property "{keyword}" is an integer of more than 64 bits', at=join_pointer(at, keyword)
            )
    return props


def _parse_float_default(text: str, at: str) -> Any:
    """Parse a floating-point default written as a string."""
    word = text.strip()
    if word in {"NaN", "Infinity", "+Infinity", "-Infinity"}:
        return SpecialFloat(word.removeprefix("+"))
    try:
        return Number(format_java_number(Number(repr(float(word)))))
    except ValueError:
        raise InvalidSchema(f'the default "{text}" is not a number', at=join_pointer(at, "default")) from None
