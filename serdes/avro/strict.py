"""Strict writing (``validate.strict``): records must have exactly the fields of their schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.nodes import Array, Map, Node, Record, Union
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.avro.binary import Output, Source
from contractlog.serdes.avro.codecs import Codec
from contractlog.serdes.avro.containers import ArrayCodec, MapCodec, RecordCodec
from contractlog.serdes.avro.failure import Failure, Key, Step
from contractlog.serdes.avro.interpreted import InterpretedWriter, tree_of
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.plan import AvroWriter
from contractlog.serdes.avro.unions import UnionCodec
from contractlog.serdes.errors import EncodeError

__all__ = ["StrictWriter"]

_Place = tuple[Node, Codec, Any, tuple[Step, ...]]
_HINT: Final = {"-type"}  # the member by which a dict names its record type in a union


class StrictWriter:
    """Encoder of values whose records have exactly the fields of their schema.

    Args:
        parsed: the schema.
        limits: bounds on nesting.
        or_default: allow fields with a default to be missing.
    """

    def __init__(self, parsed: ParsedSchema, limits: Limits = DEFAULT_LIMITS, *, or_default: bool = False) -> None:
        self._writer = AvroWriter(parsed, limits)
        self._schema = tree_of(parsed)
        self._codec = InterpretedWriter(parsed, limits).codec
        self._limits = limits
        self._or_default = or_default

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix followed by the bytes of a value.

        Raises:
            EncodeError: the value does not fit the schema, or not exactly; names the field.
        """
        body = self._writer.encode(value, prefix)
        waiting: list[_Place] = [(self._schema.root, self._codec, value, ())]
        while waiting:
            node, codec, part, steps = waiting.pop()
            waiting += self._inside(self._schema.resolve(node), codec, part, steps)
        return body

    def _inside(self, node: Node, codec: Codec, value: Any, steps: tuple[Step, ...]) -> Iterator[_Place]:
        match node, codec:
            case Union(), UnionCodec():
                out = Output()
                codec.write(out, value, self._limits.max_depth)
                index = Source(bytes(out)).read_int()  # the branch that writing chose
                bare = value if codec.named(value) is None else value[1]
                yield node.branches[index], codec.branches[index], bare, steps
            case Record(), RecordCodec():
                self._hold(node, value, steps)
                for field, inner in zip(node.fields, codec.fields, strict=True):
                    if field.name in value:
                        yield field.type, inner.codec, value[field.name], (*steps, field.name)
            case Array(), ArrayCodec():
                for position, item in enumerate(value):
                    yield node.items, codec.items, item, (*steps, position)
            case Map(), MapCodec():
                for key, entry in value.items():
                    yield node.values, codec.values, entry, (*steps, Key(key))

    def _hold(self, record: Record, value: Mapping[str, Any], steps: tuple[Step, ...]) -> None:
        names = {field.name for field in record.fields}
        surplus = sorted(map(str, value.keys() - names - _HINT))
        missing = [
            field.name
            for field in record.fields
            if field.name not in value and not (self._or_default and field.has_default)
        ]
        if surplus or missing:
            told = [f"surplus: {', '.join(surplus)}"] if surplus else []
            told += [f"missing: {', '.join(missing)}"] if missing else []
            failure = Failure(
                Outcome.SCHEMA_VIOLATION, f"validate.strict wants the fields of the record; {'; '.join(told)}"
            )
            failure.steps = list(reversed(steps))
            raise EncodeError(reason=failure.reason, field=failure.field, where=failure.where, outcome=failure.outcome)
