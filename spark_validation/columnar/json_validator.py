"""Validator of JSON documents, with orjson and jsonschema-rs; no URL is fetched, patterns are bounded.

Values of valid documents become columns, one Arrow array per path and type. A path follows the schema: ``tags{}`` is
any member that the schema does not name. Documents with many keys thus have few fields, and the fields are the same as
those of an Avro map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import jsonschema_rs
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.compatibility.json_schema.parser import JsonSchema
from contractlog.compatibility.json_text import join_pointer
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.json_schema.document_validator import format_path
from contractlog.serdes.json_schema.exact_json import has_long_numbers, read_document
from contractlog.serdes.json_schema.schema_preparation import prepare_schema, shorten_message
from contractlog.serdes.json_schema.violation_finder import SchemaViolation
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.record_text import RenderedBody, render_bytes, render_json
from contractlog.spark_validation.columnar.validator_results import ColumnPiece, RecordOutcomes

__all__ = ["DocumentFlattener", "JsonValidator", "JsonValuePath", "root_path"]

_SAME_VALUE: Final = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_ONE: Final = ("if", "then", "else")
_MAX_SCHEMAS: Final = 1000  # applying to one value

ResolvableSchema = tuple[dict[str, Any], jsonschema_rs.Resolver]
"""A schema and the resolver of its references."""
_TIMESTAMP: Final = pa.timestamp("us", "UTC")
_TYPES: Final[dict[type, Any]] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    type(None): pa.null(),
}
_RowValues = tuple[list[int], list[Any]]
_TOO_DEEP: Final = "depth limit exceeded"
_UNNAMED: Final[Mapping[str, str]] = {
    "propertyNames": "a property has a name that is not allowed",
    "additionalProperties": "a property is not declared, and additional ones are not allowed",
    "unevaluatedProperties": "a property is not declared, and unevaluated ones are not allowed",
}  #: messages about properties whose names may be data


class JsonValuePath:
    """A path of the value, with all schemas that may apply to it."""

    __slots__ = ("_item", "_members", "_named", "_other", "_schemas", "depth", "field", "is_time")

    def __init__(self, path: str, depth: int, schemas: Iterable[ResolvableSchema]) -> None:
        self.field = path
        self.depth = depth  #: number of objects and arrays that enclose the value
        self._schemas = list(_applicable_schemas(schemas))
        self.is_time = any(schema.get("format") == "date-time" for schema, _ in self._schemas)
        self._named = {name for schema, _ in self._schemas for name in _dict_member(schema, "properties")}
        self._members: dict[str, JsonValuePath] = {}
        self._item: JsonValuePath | None = None
        self._other: JsonValuePath | None = None

    def member(self, name: str) -> JsonValuePath:
        """Return the path of an object's member."""
        existing = self._members.get(name)
        if existing is not None:
            return existing
        if name in self._named:
            path = f"{self.field}.{name}" if self.field else name
            child = self._members[name] = JsonValuePath(path, self.depth + 1, self._under("properties", name))
            return child
        if self._other is None:
            words = ("additionalProperties", "unevaluatedProperties")
            schemas = [
                (schema[word], resolver) for schema, resolver in self._schemas for word in words if word in schema
            ]
            schemas += [
                (value, resolver)
                for schema, resolver in self._schemas
                for value in _dict_member(schema, "patternProperties").values()
            ]
            self._other = JsonValuePath(f"{self.field}{{}}", self.depth + 1, schemas)
        return self._other

    def item(self) -> JsonValuePath:
        """Return the path of an array's items."""
        if self._item is None:
            schemas: list[tuple[Any, jsonschema_rs.Resolver]] = []
            for schema, resolver in self._schemas:
                for word in ("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"):
                    value = schema.get(word)
                    schemas += [(inner, resolver) for inner in (value if isinstance(value, list) else [value])]
            self._item = JsonValuePath(f"{self.field}[]", self.depth + 1, schemas)
        return self._item

    def path_of(self, steps: Sequence[str | int]) -> str:
        """Return the path of a value below this one."""
        path = self
        for step in steps:
            path = path.item() if isinstance(step, int) else path.member(step)
        return path.field

    def _under(self, word: str, name: str) -> Iterator[ResolvableSchema]:
        for schema, resolver in self._schemas:
            members = _dict_member(schema, word)
            if name in members:
                yield members[name], resolver


def root_path(schema: Any, resolver: jsonschema_rs.Resolver) -> JsonValuePath:
    """Return the path of a whole document."""
    return JsonValuePath("", 0, [(schema, resolver)])


def _dict_member(schema: dict[str, Any], word: str) -> dict[str, Any]:
    value = schema.get(word)
    return value if isinstance(value, dict) else {}


def _applicable_schemas(schemas: Iterable[ResolvableSchema]) -> Iterator[ResolvableSchema]:
    """Yield the schemas and all others that apply to the same value; each ``$ref`` is followed once."""
    waiting: list[tuple[Any, jsonschema_rs.Resolver]] = list(schemas)
    referred: set[tuple[str, str]] = set()
    for _ in range(_MAX_SCHEMAS):
        if not waiting:
            return
        schema, resolver = waiting.pop()
        if not isinstance(schema, dict):
            continue
        yield schema, resolver
        reference = schema.get("$ref")
        if isinstance(reference, str) and (resolver.base_uri, reference) not in referred:
            referred.add((resolver.base_uri, reference))
            try:
                target = resolver.lookup(reference)
            except jsonschema_rs.ReferencingError:
                continue
            waiting.append((target.contents, target.resolver))
        for word in _SAME_VALUE:
            inner = schema.get(word)
            waiting += [(alternative, resolver) for alternative in inner] if isinstance(inner, list) else []
        waiting += [(schema[word], resolver) for word in _SAME_VALUE_ONE if word in schema]


_MIN_INT64, _MAX_INT64 = -(2**63), 2**63 - 1  # range of integer columns; values outside it become floats


class DocumentFlattener:
    """Splits documents into values by path and type, one document after another."""

    __slots__ = ("_collected", "_depth")

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._collected: dict[type, dict[JsonValuePath, _RowValues]] = {kind: {} for kind in _TYPES}

    def add(self, row: int, path: JsonValuePath, value: Any) -> None:
        """Add a value and everything below it, down to the depth limit."""
        kind = type(value)
        if kind is dict or kind is list:
            if path.depth >= self._depth:
                return
            if kind is dict:
                for name, member in value.items():
                    self.add(row, path.member(name), member)
            elif value:
                item = path.item()
                for member in value:
                    self.add(row, item, member)
        else:
            if kind is int and not _MIN_INT64 <= value <= _MAX_INT64:
                kind, value = float, float(value)
            entries = self._collected[kind].get(path)
            if entries is None:
                entries = self._collected[kind][path] = ([], [])
            entries[0].append(row)
            entries[1].append(value)

    def pieces(self) -> Iterator[ColumnPiece]:
        """Yield the values added so far."""
        for kind, by_path in self._collected.items():
            for path, (rows, values) in by_path.items():
                column = pa.array(values, _TYPES[kind])
                piece = ColumnPiece(path.field, np.array(rows, np.intp), np.arange(len(rows)), column)
                if kind is str and path.is_time:
                    yield from _parse_times(piece)
                else:
                    yield piece


def _parse_times(piece: ColumnPiece) -> Iterator[ColumnPiece]:
    """Yield texts as timestamps; those that cannot be parsed, or have no UTC offset, remain texts."""
    try:
        yield ColumnPiece(piece.field, piece.rows, piece.order, pc.cast(piece.values, _TIMESTAMP))
    except pa.ArrowInvalid:
        moments = [_parse_time(text) for text in piece.values.to_pylist()]
        parsed = np.array([moment is not None for moment in moments], np.bool_)
        times = pa.array([moment for moment in moments if moment is not None], _TIMESTAMP)
        yield ColumnPiece(piece.field, piece.rows[parsed], piece.order[parsed], times)
        yield ColumnPiece(
            piece.field, piece.rows[~parsed], piece.order[~parsed], piece.values.filter(pa.array(~parsed))
        )


def _parse_time(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.upper())
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _describe_without_names(fault: SchemaViolation) -> str:
    """Return the sentence of a violation without the names of undeclared properties, which are data."""
    steps = ("", *fault.evaluation_path)
    in_names = any(step == "propertyNames" and before != "properties" for before, step in pairwise(steps))
    keyword = "propertyNames" if in_names else fault.keyword
    return f"{keyword}: {_UNNAMED[keyword]}" if keyword in _UNNAMED else fault.sentence


class JsonValidator:
    """Validates documents against one JSON Schema."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str], limits: ValidationLimits) -> None:
        ready = prepare_schema(
            schema, referenced, formats=limits.formats, backtracking=limits.backtracking, mask="the value"
        )
        self._validator = ready.validator
        self._faults = ready.violation_finder
        self._contents = ready.contents
        self._root = root_path(ready.contents, ready.resolver)
        self._limits = limits

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate the documents at ``data[start:end]``."""
        codes = np.zeros(starts.size, np.uint8)
        path_indexes = np.full(starts.size, -1, np.int32)
        numbers: dict[tuple[str, str], int] = {}
        details: dict[int, str] = {}
        flattening = DocumentFlattener(self._limits.depth)
        bodies = data.data
        is_valid, root = self._validator.is_valid, self._root
        load = read_document if has_long_numbers(bodies) else orjson.loads
        for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            try:
                value = load(bodies[start:end])
            except orjson.JSONDecodeError as problem:
                codes[row] = Outcome.TOO_DEEP if problem.msg.startswith(_TOO_DEEP) else Outcome.NOT_JSON
                details[row] = f"{problem.msg} (byte {problem.pos} of the body)"
                continue
            if is_valid(value):
                if columns:
                    flattening.add(row, root, value)
                continue
            path, field, details[row] = self._explain(value)
            codes[row] = Outcome.SCHEMA_VIOLATION
            path_indexes[row] = numbers.setdefault((path, field), len(numbers))
        return RecordOutcomes(codes, path_indexes, list(numbers), details, list(flattening.pieces()))

    def locate(self, body: bytes) -> str:
        """Return the path, with positions, of the first violation of a document; empty if it is not JSON.

        Names that the schema lacks are data; the path has their length.
        """
        try:
            violation = self._faults.find_violation(read_document(body), deepest=True)
        except orjson.JSONDecodeError:
            return ""
        steps = violation.instance_path[: self._limits.depth]
        masked = [step if isinstance(step, int) or step in self._names else f"name({len(step)})" for step in steps]
        return format_path(masked, exact=True)

    def render(self, body: bytes, *, show: bool) -> RenderedBody:
        """Return the text of a document; without ``show``, with masked values and names that the schema lacks."""
        try:
            value = read_document(body)
        except orjson.JSONDecodeError as problem:
            return RenderedBody(render_bytes(body, show=show), problem.pos)
        return RenderedBody(render_json(value, self._names, show=show))

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of all properties in the schema's own text."""
        names: set[str] = set()
        waiting: list[Any] = [self._contents]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                names |= _dict_member(node, "properties").keys()
                waiting += node.values()
            elif isinstance(node, list):
                waiting += node
        return frozenset(names)

    def _explain(self, value: Any) -> tuple[str, str, str]:
        """Return schema pointer, field and description of a document's first violation."""
        fault = self._faults.find_violation(value, deepest=True)
        path = fault.schema_path if self._is_there(fault.schema_path) else fault.evaluation_path
        field = self._root.path_of(fault.instance_path[: self._limits.depth])
        return join_pointer("", *path), field, shorten_message(_describe_without_names(fault))

    def _is_there(self, path: Sequence[str | int]) -> bool:
        """Return true if a path is in the schema's own text, false if it leads into a referenced schema."""
        node = self._contents
        for step in path:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True
