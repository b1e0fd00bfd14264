"""Generator of code that reads scalars. ``d`` is the bytes, ``p`` the position in them.

The codecs of logical types are told apart by their exact class: a subclass may convert values in another way, so its
values are converted by its own ``to_logical``, as in the interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

from contractlog.serdes.avro.codegen import read_runtime
from contractlog.serdes.avro.codegen.codec_analysis import NotGenerated
from contractlog.serdes.avro.codegen.emitter import CodeEmitter, float_layout
from contractlog.serdes.avro.interpreter.codecs import (
    BooleanCodec,
    BytesCodec,
    EnumCodec,
    FixedCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    NullCodec,
    StringCodec,
    ValueReader,
)
from contractlog.serdes.avro.interpreter.decimal_and_uuid import DecimalCodec, LogicalCodec, UuidCodec, uuid_from_text
from contractlog.serdes.avro.interpreter.resolved_readers import ConvertedReader, SymbolReader
from contractlog.serdes.avro.interpreter.times import (
    DAY_RANGE,
    EPOCH_DAY,
    DateCodec,
    LocalTimestampCodec,
    NanosCodec,
    TimestampCodec,
)

__all__ = ["MAX_ONE_BYTE_INDEX", "ScalarReadEmitter"]

MAX_ONE_BYTE_INDEX: Final = 64  #: number of branches or symbols up to which a position takes one byte
_MAX_EXACT_SECONDS: Final = 2**32  #: below, a float of seconds is exact to the microsecond
_MILLIS_PER_SECOND: Final = 1_000
_BOOLEANS: Final = (False, True)


class ScalarReadEmitter(CodeEmitter):
    """Each method writes code that reads a value, and returns an expression for it, to be used once."""

    def emit_scalar(self, node: ValueReader) -> str:  # noqa: C901, PLR0911, PLR0912 -- one line per class
        """Read a scalar."""
        match node:
            case NullCodec():
                return "None"
            case BooleanCodec():
                return self._emit_table_lookup(_BOOLEANS)
            case IntCodec():
                return self._emit_integer(read_runtime.read_int)
            case LongCodec():
                return self._emit_integer(read_runtime.read_long)
            case FloatCodec():
                return self.emit_floats([node])[0]
            case StringCodec():
                return self.emit_string()
            case BytesCodec():
                return self._emit_slice_after(self._emit_length())
            case FixedCodec(size=size):
                return self._emit_slice("p", self.assign(f"p + {size}"))
            case EnumCodec():
                return self._emit_symbol(dict(enumerate(node.symbols)))
            case SymbolReader():
                return self._emit_symbol(_reader_symbols(node))
            case UuidCodec() if type(node) is UuidCodec:
                return f"{self.constant(uuid_from_text)}({self._emit_slice_after(self._emit_length())})"
            case DateCodec() if type(node) is DateCodec:
                return self._date_expression(self._emit_raw(node))
            case LogicalCodec():
                return self._logical_expression(node, self._emit_raw(node))
            case ConvertedReader():
                return self._emit_converted(node)
        raise NotGenerated

    def _emit_raw(self, node: LogicalCodec) -> str:
        if type(node) is DecimalCodec:
            return self._emit_unscaled(node, node.raw)
        if type(node) is DateCodec:
            likely = read_runtime.read_days
        elif type(node) is TimestampCodec or type(node) is LocalTimestampCodec:
            likely = read_runtime.read_millis if node.per_second == _MILLIS_PER_SECOND else read_runtime.read_micros
        else:
            return self.emit_scalar(node.raw)
        value = self.source.name()
        self.source.line(f"{value}, p = {self.constant(likely)}(d, p)")
        return value

    def _emit_unscaled(self, node: DecimalCodec, raw: ValueReader) -> str:
        """Read the bytes of a decimal: at least one, and no more than its digits need."""
        if isinstance(raw, BytesCodec):
            value = self._emit_slice_after(self._emit_length(maximum=node.longest))
            self.emit_fallback_if(f"not {value}")
        else:
            value = self.assign(self.emit_scalar(raw))
            if not isinstance(raw, FixedCodec) or not 0 < raw.size <= node.longest:
                self.emit_fallback_if(f"not 0 < {self.constant(len)}({value}) <= {node.longest}")
        return value

    def emit_string(self) -> str:
        """Read a string."""
        return self._emit_slice_after(self._emit_length(), ".decode()")

    def emit_floats(self, nodes: Sequence[FloatCodec]) -> list[str]:
        """Read adjacent numbers in one call."""
        layout = float_layout(nodes)
        names = [self.source.name() for _ in nodes]
        self.source.line(f"{', '.join(names)}, = {self.constant(layout.unpack_from)}(d, p)")
        self.source.line(f"p += {layout.size}")
        return names

    def _emit_table_lookup(self, table: object) -> str:
        value = self.assign(f"{self.constant(table)}[d[p]]")
        self.source.line("p += 1")
        return value

    def _emit_integer(self, longer: object) -> str:
        line, value = self.source.line, self.assign(f"{self.constant(read_runtime.ONE_BYTE_INTEGERS)}[d[p]]")
        with self.source.block(f"if {value} is not None"):
            line("p += 1")
        with self.source.block("else"):
            line(f"{value}, p = {self.constant(longer)}(d, p)")
        return value

    def _emit_length(self, maximum: int | None = None) -> str:
        """Read a length; return the name of the position where the value ends.

        ``p`` is left one byte before the beginning of the value.

        Args:
            maximum: reject greater lengths, unless the length takes one byte.
        """
        line, end = self.source.line, self.assign(f"{self.constant(read_runtime.SHORT_STRING_SIZES)}[d[p]]")
        with self.source.block(f"if {end}"):
            line(f"{end} += p")
        with self.source.block("else"):
            line(f"{end}, p = {self.constant(read_runtime.read_length)}(d, p)")
            if maximum is not None:
                self.emit_fallback_if(f"{end} > {maximum}")
            line(f"{end} += p")
            line("p -= 1")
        return end

    def _emit_slice_after(self, end: str, change: str = "") -> str:
        """Return the bytes from the one after ``p`` to an end."""
        return self._emit_slice("p + 1", end, change)

    def _emit_slice(self, start: str, end: str, change: str = "") -> str:
        value = self.assign(f"d[{start}:{end}]{change}")
        self.source.line(f"p = {end}")
        return value

    def _emit_symbol(self, symbols: dict[int, str]) -> str:
        """Read a symbol; the lookup fails for positions that are not in the table."""
        if max(symbols, default=0) < MAX_ONE_BYTE_INDEX:
            return self._emit_table_lookup({index * 2: symbol for index, symbol in symbols.items()})
        index = self.source.name()
        self.source.line(f"{index}, p = {self.constant(read_runtime.read_int)}(d, p)")
        return self.assign(f"{self.constant(symbols)}[{index}]")

    def _emit_converted(self, node: ConvertedReader) -> str:
        logical = getattr(node.convert, "__self__", None)
        raw = self._emit_unscaled(logical, node.raw) if type(logical) is DecimalCodec else self.emit_scalar(node.raw)
        if isinstance(logical, LogicalCodec):
            return self._logical_expression(logical, raw)
        return raw if node.convert is int else f"{self.constant(node.convert)}({raw})"

    def _logical_expression(self, node: LogicalCodec, raw: str) -> str:
        """Return an expression for a logical type's value; the codec handles what Python's types cannot hold."""
        if type(node) is DateCodec:
            return f"({self._date_expression(raw)} if {DAY_RANGE[0]} <= {raw} <= {DAY_RANGE[1]} else {raw})"
        if type(node) is DecimalCodec:
            unscaled = f"{self.constant(int.from_bytes)}({raw}, {self.source.literal('big')}, signed=True)"
            return f"{self.constant(node.read_unscaled)}({unscaled}, {self.constant(node.unit)})"
        if type(node) is NanosCodec:
            return raw
        expression = f"{self.constant(node.to_logical)}({raw})"
        if type(node) is TimestampCodec:
            moment = f"{self.constant(datetime.fromtimestamp)}({raw} / {node.per_second}, {self.constant(UTC)})"
            return f"({moment} if 0 <= {raw} < {_MAX_EXACT_SECONDS * node.per_second} else {expression})"
        return expression

    def _date_expression(self, raw: str) -> str:
        """Return an expression for the date of a number of days within the years 1 to 9999."""
        return f"{self.constant(date.fromordinal)}({raw} + {EPOCH_DAY})"


def _reader_symbols(node: SymbolReader) -> dict[int, str]:
    """Return the reader's symbol for each symbol of the writer; those without one are left out."""
    if not isinstance(node.writer_codec, EnumCodec):
        raise NotGenerated
    default = node.reader_enum.default
    symbols = (symbol if symbol in node.reader_enum.symbols else default for symbol in node.writer_codec.symbols)
    return {index: symbol for index, symbol in enumerate(symbols) if symbol is not None}
