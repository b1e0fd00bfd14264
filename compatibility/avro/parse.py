"""Avro parser that accepts what the reference implementation accepts.

Strict mode is for new schemas: ASCII names, defaults that fit their types. Tolerant mode is for stored schemas and
dependencies: names of letters and digits of any script, unchecked defaults. In both modes a name may be used before its
definition, a type may be defined twice if both definitions agree, and a malformed logical type is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.compatibility.avro.canonical import definition, java_number
from contractlog.compatibility.avro.defaults import Figure, check_defaults
from contractlog.compatibility.avro.naming import check_full_name, check_name, qualified
from contractlog.compatibility.avro.nodes import (
    MISSING,
    NO_PROPS,
    PRIMITIVES,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Schema,
    TypeName,
    Union,
)
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import Number, pointer, read
from contractlog.compatibility.limits import check_referenced, shortened

__all__ = ["Limits", "parse_avro"]

_TYPE_WORDS: Final = frozenset(
    {"type", "name", "namespace", "doc", "fields", "items", "values", "symbols", "size", "aliases"}
)
_ENUM_WORDS: Final = _TYPE_WORDS | {"default"}
_FIELD_WORDS: Final = frozenset({"type", "name", "doc", "default", "order", "aliases"})
_ORDERS: Final = frozenset({"ascending", "descending", "ignore"})
_NAMED: Final = frozenset({"record", "error", "enum", "fixed"})
_FLOATING: Final = frozenset({"float", "double"})
_MAX_FIXED_SIZE: Final = 2**31 - 9  #: maximum array length in Java
_LONGEST: Final = 2**63
_NAME_AND_TYPE: Final = 2  #: members of most fields

_Common = tuple[str, Mapping[str, Any], str, tuple[str, ...], str | None]  #: pointer, properties, name, aliases, doc


@dataclass(frozen=True, slots=True)
class Limits:
    """Size limits of a schema together with its dependencies."""

    named_types: int = 10_000
    fields: int = 20_000
    branches: int = 1_000  #: in one union
    symbols: int = 50_000


_LIMITS: Final = Limits()


def parse_avro(
    text: str, referenced: Mapping[str, str], *, strict: bool, limits: Limits = _LIMITS
) -> tuple[Schema, set[str]]:
    """Parse an Avro schema and all its dependencies.

    Returns:
        The schema, and the full names of the types at the roots of its references: they stay names in its text.

    Raises:
        InvalidSchema: not a valid schema; ``at`` is the position, in a referenced schema as ``NAME#POINTER``.
    """
    check_referenced(referenced)
    reading = _Reading(limits)
    roots = [reading.text(leaned_on, at=f"{name}#", strict=False) for name, leaned_on in referenced.items()]
    known = {root.name for root in roots if isinstance(root, (Named, TypeName))}
    return Schema(reading.text(text, at="", strict=strict), reading.types), known


@dataclass(slots=True)
class _Reading:
    """State of one parse: the types so far, and the counts for the limits."""

    limits: Limits
    types: dict[str, Named] = field(default_factory=dict)
    strict: bool = True
    counted: dict[str, int] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)  #: full names of the enclosing definitions
    pending: dict[str, str] = field(default_factory=dict)  #: names used before their definition -> first use
    repeated: list[Named] = field(default_factory=list)
    defaulted: list[Field] = field(default_factory=list)

    def text(self, text: str, *, at: str, strict: bool) -> Node:
        """Parse one text; errors are located in it, prefixed by the reference name for a dependency."""
        self.strict, self.pending, self.repeated, self.defaulted = strict, {}, [], []
        try:
            return self.checked(self.node(read(text, comments=True), at, ""))
        except InvalidSchema as problem:
            place = problem.at if problem.at.startswith(at) else at + problem.at
            raise InvalidSchema(shortened(problem.message), at=place) from None

    def checked(self, root: Node) -> Node:
        """Check that every name is defined, repeated definitions agree, and every default fits."""
        for name, place in self.pending.items():
            if name not in self.types:
                raise InvalidSchema(f'the type "{name}" is not defined', at=place)
        for again in self.repeated:
            if definition(again) != definition(self.types[again.name]):
                raise InvalidSchema(f'the type "{again.name}" is defined twice, and differently', at=again.at)
        if self.strict:
            check_defaults(Schema(root, self.types), self.defaulted)
        return root

    def node(self, value: Any, at: str, namespace: str) -> Node:
        """Parse any type."""
        if isinstance(value, str):
            return self.by_name(value, at, namespace)
        if isinstance(value, list):
            return self.union(value, at, namespace)
        if isinstance(value, dict):
            return self.described(value, at, namespace)
        raise InvalidSchema("a type is a name, an object or a list of types", at=at)

    def by_name(self, name: str, at: str, namespace: str) -> Node:
        """Resolve a name: a primitive, a type in the enclosing namespace, else one without namespace."""
        if name in PRIMITIVES:
            return Primitive(at, NO_PROPS, name)
        full = f"{namespace}.{name}" if namespace and "." not in name else name
        elsewhere = name in self.types or (name in self.open and not self.strict)
        known = name if elsewhere and full not in self.types and full not in self.open else full
        if known not in self.types and known not in self.open:
            self.pending.setdefault(known, at)
        return TypeName(at, NO_PROPS, known)

    def described(self, value: dict[str, Any], at: str, namespace: str) -> Node:
        """Parse a type written as an object."""
        kind = value.get("type")
        if not isinstance(kind, str):
            raise InvalidSchema('an object that describes a type needs a "type" that is a name', at=at)
        if kind in PRIMITIVES:
            return Primitive(at, _props(value, _TYPE_WORDS), kind)
        if kind == "array":
            items = self.node(_part(value, "items", "array", at), f"{at}/items", namespace)
            return Array(at, _type_props(value, at, kind), items)
        if kind == "map":
            values = self.node(_part(value, "values", "map", at), f"{at}/values", namespace)
            return Map(at, _type_props(value, at, kind), values)
        if kind in _NAMED:
            return self.named(value, kind, at, namespace)
        return self.by_name(kind, at, namespace)

    def union(self, value: list[Any], at: str, namespace: str) -> Union:
        """Parse a union; a branch must not be a union or occur twice."""
        if len(value) > self.limits.branches:
            raise InvalidSchema(f"a union of {len(value)} branches is over the limit of {self.limits.branches}", at=at)
        branches: list[Node] = []
        seen: set[str] = set()
        for index, branch in enumerate(value):
            if isinstance(branch, str) and branch in PRIMITIVES and branch not in seen:
                seen.add(branch)
                branches.append(Primitive(f"{at}/{index}", NO_PROPS, branch))
                continue
            node = self.node(branch, f"{at}/{index}", namespace)
            if isinstance(node, Union):
                raise InvalidSchema("a union cannot be a branch of a union", at=node.at)
            name = node.type if isinstance(node, Primitive) else _branch_name(node)
            if name in seen:
                raise InvalidSchema(f'the union has the branch "{name}" twice', at=node.at)
            seen.add(name)
            branches.append(node)
        return Union(at, NO_PROPS, tuple(branches))

    def named(self, value: dict[str, Any], kind: str, at: str, namespace: str) -> Node:
        """Parse a definition and register it under its name."""
        name = self.full_name(value, kind, at, namespace)
        space = name.rpartition(".")[0]
        self.count("named types", self.limits.named_types, at)
        first = name not in self.types and name not in self.open
        self.open.add(name)
        make = {"enum": self.enum, "fixed": self.fixed}.get(kind, self.record)
        doc = value.get("doc")
        aliases = tuple(self.aliases(value, at, space)) if "aliases" in value else ()
        props = _props(value, _ENUM_WORDS) if kind == "enum" else _type_props(value, at, kind)
        node = make(value, (at, props, name, aliases, doc if isinstance(doc, str) else None))
        if not first:
            self.repeated.append(node)
            return TypeName(at, NO_PROPS, name)
        self.open.discard(name)
        self.types[name] = node
        return node

    def record(self, value: dict[str, Any], common: _Common) -> Record:
        """Parse the fields; names must be unique."""
        place, _, name, *_ = common
        entries = value.get("fields")
        if not isinstance(entries, list):
            raise InvalidSchema('a record needs "fields", a list', at=place)
        self.count("fields", self.limits.fields, place, len(entries))
        space = name.rpartition(".")[0]
        fields: dict[str, Field] = {}
        for index, entry in enumerate(entries):
            member = self.field(entry, f"{place}/fields/{index}", space)
            if member.name in fields:
                raise InvalidSchema(f'the record has the field "{member.name}" twice', at=member.at)
            fields[member.name] = member
        if self.strict:
            self.defaulted.extend([member for member in fields.values() if member.default is not MISSING])
        return Record(*common, tuple(fields.values()), value["type"] == "error")

    def field(self, entry: Any, at: str, namespace: str) -> Field:
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
            raise InvalidSchema('an "order" is ascending, descending or ignore', at=pointer(at, "order"))
        if isinstance(kind, str) and kind in PRIMITIVES:
            node: Node = Primitive(at + "/type", NO_PROPS, kind)
        else:
            node = self.node(kind, at + "/type", namespace)
        if len(entry) == _NAME_AND_TYPE:
            return Field(name, node, at, NO_PROPS)
        doc = entry.get("doc")
        default = entry.get("default", MISSING)
        if isinstance(default, str) and isinstance(node, Primitive) and node.type in _FLOATING:
            default = _figure(default, at)
        return Field(
            name,
            node,
            at,
            NO_PROPS if _FIELD_WORDS.issuperset(entry) else _props(entry, _FIELD_WORDS),
            default,
            doc if isinstance(doc, str) else None,
            order.lower(),
            tuple(dict.fromkeys(_aliases(entry, at))) if "aliases" in entry else (),
        )

    def enum(self, value: dict[str, Any], common: _Common) -> Enum:
        """Parse the symbols; they must be unique and include the default."""
        place, *_ = common
        entries = value.get("symbols")
        if not isinstance(entries, list):
            raise InvalidSchema('an enum needs "symbols", a list', at=place)
        self.count("symbols", self.limits.symbols, place, len(entries))
        symbols: dict[str, None] = {}
        for index, symbol in enumerate(entries):
            if not isinstance(symbol, str):
                raise InvalidSchema("a symbol is a name", at=pointer(place, "symbols", index))
            if not (symbol.isidentifier() and symbol.isascii()):
                check_name(symbol, "symbol", place, "symbols", index, strict=self.strict)
            if symbol in symbols:
                raise InvalidSchema(f'the enum has the symbol "{symbol}" twice', at=pointer(place, "symbols", index))
            symbols[symbol] = None
        default = value.get("default")
        if isinstance(default, str) and default not in symbols:
            raise InvalidSchema(f'the default "{default}" is not a symbol of the enum', at=pointer(place, "default"))
        default = default if isinstance(default, str) else None
        return Enum(*common, tuple(symbols), default)

    def fixed(self, value: dict[str, Any], common: _Common) -> Fixed:
        """Parse the size."""
        size = value.get("size")
        if not (isinstance(size, Number) and size.integral and 0 <= size.value <= _MAX_FIXED_SIZE):
            raise InvalidSchema('a fixed needs a "size", a number of bytes', at=common[0])
        return Fixed(*common, int(size.value))

    def full_name(self, value: dict[str, Any], kind: str, at: str, namespace: str) -> str:
        """Return the full name of a definition; a dotted name has its own namespace."""
        name, space = value.get("name"), value.get("namespace")
        if not isinstance(name, str):
            raise InvalidSchema(f'a type "{kind}" needs a "name"', at=at)
        full = qualified(name, space if isinstance(space, str) else namespace)
        check_full_name(full, pointer(at, "name"), strict=self.strict)
        return full

    def aliases(self, value: dict[str, Any], at: str, namespace: str) -> dict[str, None]:
        """Parse the aliases: alternative names of this type in a writer schema."""
        names: dict[str, None] = {}
        for alias in _aliases(value, at):
            full = qualified(alias, namespace)
            check_name(full.rpartition(".")[2], "type", pointer(at, "aliases"), strict=self.strict)
            names[full] = None
        return names

    def count(self, what: str, limit: int, at: str, more: int = 1) -> None:
        """Count elements and enforce a limit, against hostile schemas."""
        total = self.counted[what] = self.counted.get(what, 0) + more
        if total > limit:
            raise InvalidSchema(f"the schema has more than {limit} {what}", at=at)


def _branch_name(node: Node) -> str:
    return node.name if isinstance(node, (Named, TypeName)) else node.kind.lower()


def _part(value: dict[str, Any], word: str, kind: str, at: str) -> Any:
    if word not in value:
        raise InvalidSchema(f'a type "{kind}" needs "{word}"', at=at)
    return value[word]


def _aliases(value: dict[str, Any], at: str) -> list[str]:
    aliases = value.get("aliases", [])
    if not (isinstance(aliases, list) and all(isinstance(alias, str) for alias in aliases)):
        raise InvalidSchema('"aliases" is a list of names', at=pointer(at, "aliases"))
    return aliases


def _props(value: dict[str, Any], words: frozenset[str]) -> Mapping[str, Any]:
    if words.issuperset(value):
        return NO_PROPS
    return {word: member for word, member in value.items() if word not in words}


def _type_props(value: dict[str, Any], at: str, kind: str) -> Mapping[str, Any]:
    """Return the custom properties of a type.

    Except for ``fixed``, integers of more than 64 bits are rejected, since the reference implementation does not
    support them.
    """
    props = _props(value, _TYPE_WORDS)
    for word, member in props.items() if kind != "fixed" else ():
        if isinstance(member, Number) and member.integral and not -_LONGEST <= member.value < _LONGEST:
            raise InvalidSchema(f'the property "{word}" is an integer of more than 64 bits', at=pointer(at, word))
    return props


def _figure(text: str, at: str) -> Any:
    """Parse a floating-point default written as a string."""
    word = text.strip()
    if word in {"NaN", "Infinity", "+Infinity", "-Infinity"}:
        return Figure(word.removeprefix("+"))
    try:
        return Number(java_number(Number(repr(float(word)))))
    except ValueError:
        raise InvalidSchema(f'the default "{text}" is no number', at=pointer(at, "default")) from None
