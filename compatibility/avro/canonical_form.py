"""Canonical and normalized text of an Avro schema.

The text is compact, with keys in a fixed order; a named type is defined at its first use and referred to by name
afterwards. Documentation, aliases and custom properties are part of it, so they make a different schema; whitespace and
notation do not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.default_normalization import may_change_when_normalized, normalize_default
from contractlog.compatibility.avro.logical_types import list_logical_properties
from contractlog.compatibility.avro.types import (
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
from contractlog.compatibility.json_text import MAX_NESTING, Number, quote_json, utf16_sort_key, write_json

__all__ = ["MAX_INLINED", "format_definition", "format_inlined", "format_java_number", "format_texts"]

MAX_INLINED: Final = 10 * 1024 * 1024  #: characters
_COMPLEX: Final = frozenset({"record", "enum", "array", "map", "union", "fixed"})


def format_texts(schema: AvroSchema, defined: Collection[str] = ()) -> tuple[str, str]:
    """Return the canonical text, which is stored, hashed and returned, and the normalized one.

    In the normalized text, aliases and properties are sorted as well, and empty documentation of types is dropped.

    Args:
        schema: the schema to write.
        defined: full names of the types defined by references; they are written as names.
    """
    writer = _Writer(schema.types, set(defined))
    canonical = writer.node(schema.root, None, 0)
    if not writer.unsorted:
        return canonical, canonical
    return canonical, _NormalizedWriter(schema.types, set(defined)).node(schema.root, None, 0)


def format_inlined(schema: AvroSchema, *, normalized: bool = False, limit: int = MAX_INLINED) -> str:
    """Return the canonical or normalized text with all dependencies inlined.

    Raises:
        InvalidSchema: the text would be longer than the limit; writing stops there.
    """
    return (_LimitedNormalizedWriter if normalized else _LimitedWriter)(schema.types, limit).node(schema.root, None, 0)


def format_definition(node: NamedType) -> str:
    """Return the text that two definitions of one type must share.

    It has no documentation and no aliases, and its properties are sorted.
    """
    return _DefinitionWriter({}, set()).node(node, None, 0)


def format_java_number(number: Number) -> str:
    """Write a number as Java does: ``1e2`` is ``100.0``.

    The reference implementation identifies schemas by texts with numbers in this form.
    """
    if number.integral:
        return str(number.value)
    double = float(number.text)
    if math.isinf(double):
        return '"Infinity"' if double > 0 else '"-Infinity"'
    if double == 5e-324:  # noqa: PLR2004 - Java prints one more digit for this double only
        return "4.9E-324"
    sign = "-" if math.copysign(1, double) < 0 else ""
    mantissa, _, exponent = f"{abs(double)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return f"{sign}0.0"
    scale = int(exponent or 0) + len(whole) - (len(whole + fraction) - len(digits) if whole.strip("0") == "" else 0)
    digits = digits.rstrip("0") or "0"
    if -2 <= scale <= 7:  # noqa: PLR2004 - from 0.001 up to 10,000,000, Java uses no exponent
        padded = digits.ljust(scale, "0") if scale > 0 else "0" * (1 - scale) + digits
        point = max(scale, 1)
        return f"{sign}{padded[:point]}.{padded[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{scale - 1}"


class _Writer:
    """Writer of the canonical text.

    Depth is checked because types that are used before their definition are written at their first use.
    """

    def __init__(self, types: Mapping[str, NamedType], defined: set[str]) -> None:
        self.types = types
        self.defined = defined
        self.unsorted = False  #: True if the normalized text may differ from what was written

    def node(self, node: AvroType, namespace: str | None, depth: int) -> str:
        if depth > MAX_NESTING:
            raise InvalidSchema(f"the types, written out, are nested more than {MAX_NESTING} levels deep", at=node.at)
        match node:
            case Primitive(props=props) if not props:
                return quote_json(node.type)
            case Union():
                return "[" + ",".join([self.node(branch, namespace, depth + 1) for branch in node.branches]) + "]"
            case TypeName() | NamedType():
                return self.write_named(node.name, node, namespace, depth)
            case _:
                return _write_object(self.list_members(node, namespace, depth))

    def list_members(self, node: AvroType, namespace: str | None, depth: int) -> Iterator[str]:
        match node:
            case Array():
                yield '"type":"array"'
                yield '"items":' + self.node(node.items, namespace, depth + 1)
            case Map():
                yield '"type":"map"'
                yield '"values":' + self.node(node.values, namespace, depth + 1)
            case Primitive():
                yield '"type":' + quote_json(node.type)
        yield from self.type_props(node)

    def write_named(self, name: str, node: TypeName | NamedType, namespace: str | None, depth: int) -> str:
        if name in self.defined:
            return quote_json(shorten_name(name, namespace))
        self.defined.add(name)
        definition = self.types[name] if isinstance(node, TypeName) else node
        return _write_object(self.definition(definition, namespace, depth))

    def definition(self, node: NamedType, namespace: str | None, depth: int) -> Iterator[str]:
        space, _, name = node.name.rpartition(".")
        kind = "error" if isinstance(node, Record) and node.is_error else node.kind.lower()
        yield f'"type":"{kind}"'
        yield '"name":' + quote_json(name)
        if space != (namespace or ""):
            yield '"namespace":' + quote_json(space)
        yield from self.doc(node.doc)
        match node:
            case Record():
                fields = [_write_object(self.field(field, space, depth + 2)) for field in node.fields]
                yield '"fields":[' + ",".join(fields) + "]"
            case Enum():
                yield '"symbols":[' + ",".join(map(quote_json, node.symbols)) + "]"
                if node.default is not None:
                    yield '"default":' + quote_json(node.default)
            case Fixed():
                yield f'"size":{node.size}'
        yield from self.type_props(node)
        yield from self.aliases(node.aliases, space)

    def field(self, field: Field, namespace: str, depth: int) -> Iterator[str]:
        yield '"name":' + quote_json(field.name)
        yield '"type":' + self.node(field.type, namespace, depth + 1)
        if field.doc is not None:
            yield from self.field_doc(field.doc)
        if field.has_default:
            yield '"default":' + self.default(field)
        if field.order != "ascending":
            yield '"order":' + quote_json(field.order)
        if field.aliases:
            yield from self.field_aliases(field.aliases)
        if field.props:
            yield from self.props(field.props)

    def doc(self, doc: str | None) -> Iterator[str]:
        if doc is not None:
            self.unsorted = self.unsorted or not doc
            yield '"doc":' + quote_json(doc)

    def field_doc(self, doc: str) -> Iterator[str]:
        yield '"doc":' + quote_json(doc)

    def aliases(self, aliases: tuple[str, ...], space: str) -> Iterator[str]:
        if aliases:
            self.unsorted = self.unsorted or len(aliases) > 1
            yield '"aliases":[' + ",".join(quote_json(shorten_name(alias, space)) for alias in aliases) + "]"

    def field_aliases(self, aliases: tuple[str, ...]) -> Iterator[str]:
        self.unsorted = self.unsorted or len(aliases) > 1
        yield '"aliases":[' + ",".join(map(quote_json, aliases)) + "]"

    def type_props(self, node: AvroType) -> Iterator[str]:
        return self.props(node.props)

    def props(self, props: Mapping[str, Any]) -> Iterator[str]:
        self.unsorted = (
            self.unsorted or len(props) > 1 or any(isinstance(value, dict | list) for value in props.values())
        )
        return (_write_member(name, self.value(value)) for name, value in props.items())

    def default(self, field: Field) -> str:
        self.unsorted = self.unsorted or may_change_when_normalized(field)
        return self.value(field.default)

    def value(self, value: Any) -> str:
        return write_json(value, format_java_number)


class _NormalizedWriter(_Writer):
    """Writer of the normalized text, which sorts whatever is unordered."""

    def doc(self, doc: str | None) -> Iterator[str]:
        return super().doc(doc or None)

    def aliases(self, aliases: tuple[str, ...], space: str) -> Iterator[str]:
        return super().aliases(tuple(sorted(aliases, key=utf16_sort_key)), space)

    def field_aliases(self, aliases: tuple[str, ...]) -> Iterator[str]:
        return super().field_aliases(tuple(sorted(aliases, key=utf16_sort_key)))

    def default(self, field: Field) -> str:
        return write_json(normalize_default(field.default, field.type, self.types), format_java_number, sort_keys=True)

    def type_props(self, node: AvroType) -> Iterator[str]:
        first = [word for word in list_logical_properties(node) if node.props.get(word, Number("0")) != Number("0")]
        yield from (_write_member(word, self.value(node.props[word])) for word in first)
        yield from self.props({name: value for name, value in node.props.items() if name not in first})

    def props(self, props: Mapping[str, Any]) -> Iterator[str]:
        return (
            _write_member(name, write_json(props[name], format_java_number, sort_keys=True))
            for name in sorted(props, key=utf16_sort_key)
        )


class _LimitedWriter(_Writer):
    """Writer that limits the length of its text.

    ``written`` is the length of the preceding siblings, plus that of a node once it is complete.
    """

    def __init__(self, types: Mapping[str, NamedType], limit: int) -> None:
        super().__init__(types, set())
        self.limit = limit
        self.written = 0

    def node(self, node: AvroType, namespace: str | None, depth: int) -> str:
        before = self.written
        text = super().node(node, namespace, depth)
        self.written = before + len(text)
        if self.written > self.limit:
            raise InvalidSchema(f"the schema, written out, has more than {self.limit} characters", at=node.at)
        return text


class _LimitedNormalizedWriter(_LimitedWriter, _NormalizedWriter):
    """Length-limited writer of the normalized text."""


class _DefinitionWriter(_Writer):
    """Writer for comparing definitions: full names, sorted properties, no documentation and no aliases."""

    def write_named(self, name: str, node: TypeName | NamedType, namespace: str | None, depth: int) -> str:
        return super().write_named(name, node, namespace, depth) if depth == 0 else quote_json(name)

    def doc(self, _: str | None) -> Iterator[str]:
        return iter(())

    def field_doc(self, _: str) -> Iterator[str]:
        return iter(())

    def aliases(self, _: tuple[str, ...], __: str) -> Iterator[str]:
        return iter(())

    def field_aliases(self, _: tuple[str, ...]) -> Iterator[str]:
        return iter(())

    def props(self, props: Mapping[str, Any]) -> Iterator[str]:
        return (_write_member(name, self.value(props[name])) for name in sorted(props))

    def value(self, value: Any) -> str:
        return write_json(value, format_java_number, sort_keys=True)


def shorten_name(name: str, namespace: str | None) -> str:
    """Shorten a full name if the enclosing namespace implies the rest."""
    space, _, last = name.rpartition(".")
    return last if space and space == namespace and last not in PRIMITIVES | _COMPLEX else name


def _write_object(members: Iterator[str]) -> str:
    return "{" + ",".join(members) + "}"


def _write_member(name: str, value: str) -> str:
    return f"{quote_json(name)}:{value}"
