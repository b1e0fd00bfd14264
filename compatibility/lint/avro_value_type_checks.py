"""Checks of Avro instants, money, UUIDs, logical types and unions, for ``avro_rules.py``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from contractlog.compatibility.avro.logical_types import LOGICAL_TYPE_BASES, max_decimal_digits, parse_integer
from contractlog.compatibility.avro.types import (
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    short_name,
)
from contractlog.compatibility.lint.avro_document import AvroDocument, is_plain
from contractlog.compatibility.lint.name_words import (
    find_close_name,
    is_date_name,
    is_instant_name,
    is_money_name,
    is_uuid_name,
)
from contractlog.compatibility.lint.rule import Problem, UnwrapItem

__all__: list[str] = []  # only the table of rules imports the checks; its rows say what they report

Problems = Iterator[Problem]

_MAX_BRANCHES: Final = 10
_MAX_COMPARED: Final = 40  #: records of a union that are compared with each other
_MAX_DIGITS: Final = 38  #: of a decimal, in Spark, Snowflake and most databases
_NUMBERS: Final = ("int", "long", "float", "double")
_TIMESTAMP: Final = '{"type": "long", "logicalType": "timestamp-millis"}'


def check_plain_instant(document: AvroDocument, field: Field) -> Problems:
    for node in document.values_of(field):
        if is_plain(node, "long") and is_instant_name(field.name):
            yield Problem(
                node.at, f"the instant `{field.name}` is a plain long, whose unit readers must guess; use {_TIMESTAMP}"
            )
        elif is_plain(node, "int", "long") and is_date_name(field.name):
            yield Problem(
                node.at,
                f"the date `{field.name}` is a plain number; use "
                '{"type": "int", "logicalType": "date"}, or a timestamp if it has a time',
            )


def check_text_instant(document: AvroDocument, field: Field) -> Problems:
    for node in document.values_of(field):
        if is_plain(node, "string") and (is_instant_name(field.name) or is_date_name(field.name)):
            yield Problem(
                node.at,
                f"the point in time `{field.name}` is a string, which nothing validates or orders; "
                "use a long or an int with a logical type",
            )


def check_local_timestamp(_: AvroDocument, node: Primitive) -> Problems:
    if (node.logical_type or "").startswith("local-timestamp"):
        yield Problem(
            f"{node.at}/logicalType",
            "a local timestamp has no time zone, so values of different producers cannot be ordered; "
            "use `timestamp-millis` or `timestamp-micros`, unless local time is meant",
        )


def check_money(document: AvroDocument, field: Field) -> Problems:
    for node in document.values_of(field):
        if is_plain(node, "float", "double") and is_money_name(field.name):
            yield Problem(
                node.at,
                f"the amount of money `{field.name}` is a {node.kind.lower()}, which rounds cents; "
                'use "bytes" with the logical type "decimal", or a long of the smallest unit',
            )


def check_plain_uuid(document: AvroDocument, field: Field) -> Problems:
    for node in document.values_of(field):
        if is_plain(node, "string") and is_uuid_name(field.name):
            yield Problem(node.at, f'`{field.name}` is a plain string; add "logicalType": "uuid" to its type')


def check_misplaced_logical_type(_: AvroDocument, field: Field) -> Problems:
    if "logicalType" in field.props:
        yield Problem(
            f"{field.at}/logicalType",
            f'the logical type of `{field.name}` stands beside "type" and has no effect; write '
            '"type": {"type": …, "logicalType": …}',
        )


def check_logical_type_base(_: AvroDocument, node: Primitive | Fixed) -> Problems:
    name = node.logical_type or ""
    bases = LOGICAL_TYPE_BASES.get(name)
    kind = node.kind.lower()
    if bases is not None and kind not in bases:
        yield Problem(
            f"{node.at}/logicalType",
            f"`{name}` is a logical type of {' and '.join(sorted(bases))}; on {kind} it has no effect",
        )


def check_logical_type_name(_: AvroDocument, node: Primitive | Fixed) -> Problems:
    name = node.logical_type
    close = None if name is None or name in LOGICAL_TYPE_BASES else find_close_name(name, list(LOGICAL_TYPE_BASES))
    if close is not None:
        yield Problem(
            f"{node.at}/logicalType",
            f"`{name}` is not a logical type of Avro and has no effect; the nearest one is `{close}`",
        )


def check_decimal(_: AvroDocument, node: Primitive | Fixed) -> Problems:
    if not _is_decimal(node):
        return
    precision, scale = _digits(node, "precision"), _digits(node, "scale") if "scale" in node.props else 0
    if precision is None or precision < 1 or scale is None or not 0 <= scale <= precision:
        yield Problem(
            f"{node.at}/logicalType",
            'a decimal needs a "precision" of at least 1 and a "scale" between 0 and the precision; '
            "without them the logical type has no effect",
        )


def check_decimal_scale(_: AvroDocument, node: Primitive | Fixed) -> Problems:
    if _is_decimal(node) and "scale" not in node.props and (_digits(node, "precision") or 0) > 0:
        yield Problem(
            node.at,
            'the decimal has no "scale", so it is a whole number; set "scale" to the digits after the point, or to 0',
        )


def check_decimal_size(_: AvroDocument, node: Primitive | Fixed) -> Problems:
    precision = _digits(node, "precision") if _is_decimal(node) else None
    if precision is not None and precision > _MAX_DIGITS:
        yield Problem(
            f"{node.at}/precision",
            f"a decimal of {precision} digits exceeds the {_MAX_DIGITS} of Spark and most databases",
        )


def check_decimal_fixed(_: AvroDocument, node: Fixed) -> Problems:
    precision = _digits(node, "precision") if _is_decimal(node) else None
    max_digits = max_decimal_digits(node.size)
    if precision is not None and precision > max_digits:
        yield Problem(
            f"{node.at}/precision",
            f"{node.size} bytes hold decimals of at most {max_digits} digits, not {precision}, so the logical type has "
            "no effect; enlarge the size or lower the precision",
        )


def _is_decimal(node: Primitive | Fixed) -> bool:
    return node.logical_type == "decimal" and (isinstance(node, Fixed) or node.type == "bytes")


def _digits(node: AvroType, name: str) -> int | None:
    return parse_integer(node.props.get(name))


def check_single_branch(_: AvroDocument, union: Union) -> Problems:
    if len(union.branches) == 1:
        yield Problem(
            union.at,
            "a union of one branch is the same as the type itself; remove the brackets",
            (UnwrapItem(union.at),),
        )


def check_union_numbers(_: AvroDocument, union: Union) -> Problems:
    numbers = [branch for branch in union.branches if is_plain(branch, *_NUMBERS)]
    if len(numbers) > 1:
        names = " and ".join(branch.kind.lower() for branch in numbers)
        yield Problem(
            numbers[1].at,
            f"the union has {names}: writers pick a branch by the value, so one column has several types; "
            "keep the widest",
        )


def check_similar_union_branches(document: AvroDocument, union: Union) -> Problems:
    branches = [document.resolve(branch) for branch in union.branches]
    for primitive, named in (("string", Enum), ("bytes", Fixed)):
        twins = [branch for branch in branches if isinstance(branch, named)]
        if twins and any(is_plain(branch, primitive) for branch in branches):
            index = branches.index(twins[0])
            yield Problem(
                union.branches[index].at,
                f"the union has {primitive} and {twins[0].kind.lower()}: a value may be written as either; keep one",
            )


def check_union_records(document: AvroDocument, union: Union) -> Problems:
    branches = [(document.resolve(branch), branch.at) for branch in union.branches]
    records = [(node, at) for node, at in branches if isinstance(node, Record)][:_MAX_COMPARED]
    if records and any(isinstance(node, Map) for node, _ in branches):
        record, at = records[0]
        yield Problem(
            at, f"the union has a map and the record `{short_name(record.name)}`: both are written from the same values"
        )
    for (first, _), (second, at) in combinations(records, 2):
        if _may_confuse(first, second):
            yield Problem(
                at,
                f"a value may be written as `{short_name(first.name)}` or as `{short_name(second.name)}`; "
                "give one of them a required field that the other lacks",
            )


def _may_confuse(first: Record, second: Record) -> bool:
    """Return True if a value may have the required fields of both records, and only fields of both."""
    fields, other_fields = ({field.name: field for field in record.fields} for record in (first, second))
    required = [field.name for field in (*first.fields, *second.fields) if not field.has_default]
    if not all(name in fields and name in other_fields for name in required):
        return False
    return all(_shape(fields[name].type) == _shape(other_fields[name].type) for name in required)


def _shape(node: AvroType) -> str:
    return getattr(node, "name", node.kind)


def check_union_size(_: AvroDocument, union: Union) -> Problems:
    if union.at and len(union.branches) > _MAX_BRANCHES:
        yield Problem(
            union.at,
            f"the union has {len(union.branches):,} branches, each of which every reader must handle; "
            "split the topic, or use one record with a kind",
        )
