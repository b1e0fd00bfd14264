"""Prepared Avro schemas: encode values to bodies and decode bodies to values, without frames.

The first records are interpreted; then code is generated for the schema. Whatever the generated code does not handle
is interpreted again, so that bytes, values and errors are always the interpreter's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from contractlog.compatibility.avro.types import Array, AvroType, Map, Record, Union, is_bytes_schema
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.avro_schema import avro_schema_of, find_record_name
from contractlog.serdes.avro.codegen import InterpreterNeeded
from contractlog.serdes.avro.codegen.failure_counts import GENERATED_CODE_FAILURES
from contractlog.serdes.avro.codegen.function_cache import FUNCTION_CACHE
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer
from contractlog.serdes.avro.interpreter.codecs import Codec
from contractlog.serdes.avro.interpreter.containers import ArrayCodec, MapCodec, RecordCodec, UnionCodec
from contractlog.serdes.avro.interpreter.failure import CodecFailure, MapKey, Step
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader, InterpretedWriter
from contractlog.serdes.avro.interpreter.resolved_readers import require_readable
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.errors import EncodeError

__all__ = ["INTERPRETED_FIRST", "AvroReader", "AvroWriter", "StrictWriter"]

INTERPRETED_FIRST: Final = 100  #: records before code is generated, which takes as long as a few hundred of them
_MAX_NAME_LENGTH: Final = 100  #: characters of an unnamed schema in a log line
_FUNCTIONS_MODULE: Final = "contractlog.serdes.avro.codegen.compiler"
_Visit = tuple[AvroType, Codec, Any, tuple[Step, ...]]
_BRANCH_HINTS: Final = {"-type"}  # the member by which a dict names its record type in a union


class _GeneratingCodec(ABC):
    """Counter of records that switches to generated code when that pays."""

    def __init__(self, parsed: ParsedSchema, key: Hashable, interpreted_first: int, *, always: bool) -> None:
        self._key = key
        self._schema_name = find_record_name(parsed) or parsed.canonical[:_MAX_NAME_LENGTH]
        self._interpreted_first = self._left = interpreted_first
        self._run: Callable[..., Any] = _use_interpreter if always else self._count_down

    @abstractmethod
    def _generate(self) -> Callable[..., Any]:
        """Generate code for the schema."""

    def release(self) -> None:
        """Drop the generated code: there is too much of it in this process."""
        self._left = self._interpreted_first
        self._run = self._count_down

    def _count_down(self, *arguments: Any) -> Any:
        self._left -= 1
        if self._left >= 0:
            raise InterpreterNeeded
        try:
            run = FUNCTION_CACHE.get_or_generate(self._key, self, self._generate)
        except Exception as error:
            self._run = _use_interpreter  # generating it again would fail again
            self._count_failure(error)
            raise InterpreterNeeded from error
        if run is None:  # another thread is generating it; this record is interpreted
            raise InterpreterNeeded
        self._run = run
        return run(*arguments)

    def _count_failure(self, error: Exception) -> None:
        """Count an exception of generated code where the interpreter found nothing wrong."""
        GENERATED_CODE_FAILURES.add(self._key, self._schema_name, error)


class AvroWriter(_GeneratingCodec):
    """Encoder of the values of one schema.

    Args:
        parsed: the schema.
        limits: bounds on nesting.
        lenient: write values that do not fit exactly as other clients do (1.7 as the int 1).
        interpreted_first: number of records to interpret before code is generated.
    """

    def __init__(
        self,
        parsed: ParsedSchema,
        limits: Limits = DEFAULT_LIMITS,
        *,
        lenient: bool = False,
        interpreted_first: int = INTERPRETED_FIRST,
    ) -> None:
        self._interpreted = InterpretedWriter(parsed, limits, lenient=lenient)
        self._limits = limits
        key = ("write", *_schema_key(parsed), limits)
        super().__init__(parsed, key, interpreted_first, always=is_bytes_schema(avro_schema_of(parsed)))

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix followed by the bytes of a value.

        Raises:
            EncodeError: the value does not fit the schema; names the field.
        """
        try:
            return self._run(value, prefix)  # type: ignore[no-any-return]
        except Exception as error:  # noqa: BLE001 -- the interpreter finds the exact error
            failure = None if isinstance(error, InterpreterNeeded) else error
        try:
            data = self._interpreted.encode_exactly(value, prefix)
        except CodecFailure as misfit:  # generated code rejects it, too
            return self._interpreted.encode_misfit(value, prefix, misfit)
        if failure is not None:
            self._count_failure(failure)
        return data

    def _generate(self) -> Callable[..., Any]:
        write_function: Callable[..., Any] = import_module(_FUNCTIONS_MODULE).generate_write_function(
            self._interpreted.codec, self._limits
        )
        return write_function


class AvroReader(_GeneratingCodec):
    """Decoder of the bytes of one writer schema, optionally resolved to a reader schema."""

    def __init__(
        self,
        writer: ParsedSchema,
        reader: ParsedSchema | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        named_records: bool = False,
        interpreted_first: int = INTERPRETED_FIRST,
    ) -> None:
        self._interpreted = InterpretedReader(writer, reader, limits=limits, named_records=named_records)
        self._limits = limits
        pair = (_schema_key(writer), None if reader is None else _schema_key(reader))
        always = is_bytes_schema(avro_schema_of(writer))
        super().__init__(writer, ("read", *pair, limits, named_records), interpreted_first, always=always)

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0) -> Any:
        """Return the value of a body that begins at ``start`` and extends to the end.

        Raises:
            DecodeError: the bytes do not fit the writer schema; has the field and the outcome.
            ReaderMismatch: the bytes fit, but the reader schema cannot read them.
        """
        try:
            return self._run(data if type(data) is bytes else bytes(data), start)
        except Exception as error:  # noqa: BLE001 -- the interpreter finds the exact error
            failure = None if isinstance(error, InterpreterNeeded) else error
        value = self._interpreted.decode(data, start)
        if failure is not None:
            self._count_failure(failure)
        return value

    def require_readable(self) -> None:
        """Check that some record may be readable.

        Raises:
            ReaderMismatch: the reader schema can read no record of the writer schema.
        """
        require_readable(self._interpreted.reader)

    def _generate(self) -> Callable[..., Any]:
        read_function: Callable[..., Any] = import_module(_FUNCTIONS_MODULE).generate_read_function(
            self._interpreted.reader, self._limits
        )
        return read_function


def _schema_key(parsed: ParsedSchema) -> tuple[Hashable, ...]:
    return parsed.canonical, tuple(parsed.referenced.items())


def _use_interpreter(*_: Any) -> Any:
    raise InterpreterNeeded


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
