"""Strict writing (``validate.strict``): records must have exactly the fields of their schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.avro.types import Array, AvroType, Map, Record, Union
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.body_codec import AvroWriter
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer
from contractlog.serdes.avro.interpreter.codecs import Codec
from contractlog.serdes.avro.interpreter.containers import ArrayCodec, MapCodec, RecordCodec
from contractlog.serdes.avro.interpreter.failure import CodecFailure, MapKey, Step
from contractlog.serdes.avro.interpreter.interpreter import InterpretedWriter, avro_schema_of
from contractlog.serdes.avro.interpreter.unions import UnionCodec
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.errors import EncodeError

__all__ = ["StrictWriter"]

_Visit = tuple[AvroType, Codec, Any, tuple[Step, ...]]
_BRANCH_HINTS: Final = {"-type"}  # the member by which a dict names its record type in a union


class StrictWriter:
    """Encoder of values whose records have exactly the fields of their schema.

    Args:
        parsed: the schema.
        limits: bounds on nesting.
        or_default: allow fields with a default to be missing.
    """

    def __init__(self, parsed: ParsedSchema, limits: Limits = DEFAULT_LIMITS, *, or_default: bool = False) -> None:
        self._writer = AvroWriter(parsed, limits)
        self._schema = avro_schema_of(parsed)
        self._codec = InterpretedWriter(parsed, limits).codec
        self._limits = limits
        self._or_default = or_default

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix followed by the bytes of a value.

        Raises:
            EncodeError: the value does not fit the schema, or not exactly; names the field.
        """
        body = self._writer.encode(value, prefix)
        waiting: list[_Visit] = [(self._schema.root, self._codec, value, ())]
        while waiting:
            node, codec, part, steps = waiting.pop()
            waiting += self._visit_children(self._schema.resolve(node), codec, part, steps)
        return body

    def _visit_children(self, node: AvroType, codec: Codec, value: Any, steps: tuple[Step, ...]) -> Iterator[_Visit]:
        match node, codec:
            case Union(), UnionCodec():
                out = OutputBuffer()
                codec.write(out, value, self._limits.max_depth)
                index = ByteCursor(bytes(out)).read_int()  # the branch that writing chose
                bare = value if codec.find_named_branch(value) is None else value[1]
                yield node.branches[index], codec.branches[index], bare, steps
            case Record(), RecordCodec():
                self._check_fields(node, value, steps)
                for field, inner in zip(node.fields, codec.fields, strict=True):
                    if field.name in value:
                        yield field.type, inner.codec, value[field.name], (*steps, field.name)
            case Array(), ArrayCodec():
                for position, item in enumerate(value):
                    yield node.items, codec.items, item, (*steps, position)
            case Map(), MapCodec():
                for key, entry in value.items():
                    yield node.values, codec.values, entry, (*steps, MapKey(key))

    def _check_fields(self, record: Record, value: Mapping[str, Any], steps: tuple[Step, ...]) -> None:
        names = {field.name for field in record.fields}
        surplus = sorted(map(str, value.keys() - names - _BRANCH_HINTS))
        missing = [
            field.name
            for field in record.fields
            if field.name not in value and not (self._or_default and field.has_default)
        ]
        if surplus or missing:
            problems = [f"surplus: {', '.join(surplus)}"] if surplus else []
            problems += [f"missing: {', '.join(missing)}"] if missing else []
            failure = CodecFailure(
                Outcome.SCHEMA_VIOLATION, f"validate.strict wants the fields of the record; {'; '.join(problems)}"
            )
            failure.steps = list(reversed(steps))
            raise EncodeError(reason=failure.reason, field=failure.field, where=failure.where, outcome=failure.outcome)
