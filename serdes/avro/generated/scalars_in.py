"""Generator of code that reads scalars. ``d`` is the bytes, ``p`` the position in them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

from contractlog.serdes.avro.codecs import (
    BooleanCodec,
    BytesCodec,
    EnumCodec,
    FixedCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    NullCodec,
    Reader,
    StringCodec,
)
from contractlog.serdes.avro.generated import received
from contractlog.serdes.avro.generated.emitting import Emitter
from contractlog.serdes.avro.generated.floats import packing
from contractlog.serdes.avro.generated.graph import Unfit
from contractlog.serdes.avro.logical import DecimalCodec, LogicalCodec, UuidCodec, uuid_of_text
from contractlog.serdes.avro.resolved import Converted, SymbolReader
from contractlog.serdes.avro.times import DateCodec, LocalTimestampCodec, NanosCodec, TimestampCodec

__all__ = ["FEW", "ScalarReading"]

FEW: Final = 64  #: number of branches or symbols up to which a position takes one byte
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_EXACT_SECONDS: Final = 2**32  #: below, a float of seconds is exact to the microsecond
_MILLIS: Final = 1_000
_BOOLEANS: Final = (False, True)


class ScalarReading(Emitter):
    """Each method writes code that reads a value, and returns an expression for it, to be used once."""

    def scalar(self, node: Reader) -> str:  # noqa: C901, PLR0911, PLR0912 -- one line per class
        """Read a scalar."""
        match node:
            case NullCodec():
                return "None"
            case BooleanCodec():
                return self._by_byte(_BOOLEANS)
            case IntCodec():
                return self._integer(received.int_at)
            case LongCodec():
                return self._integer(received.long_at)
            case FloatCodec():
                return self.floats([node])[0]
            case StringCodec():
                return self.string()
            case BytesCodec():
                return self._after(self._length())
            case FixedCodec(size=size):
                return self._until("p", self.set(f"p + {size}"))
            case EnumCodec():
                return self._symbol(dict(enumerate(node.symbols)))
            case SymbolReader():
                return self._symbol(_wanted_symbols(node))
            case UuidCodec():
                return f"{self.constant(uuid_of_text)}({self._after(self._length())})"
            case LogicalCodec():
                return self._made(node, self._raw(node))
            case Converted():
                return self._converted(node)
        raise Unfit

    def _raw(self, node: LogicalCodec) -> str:
        if isinstance(node, DecimalCodec):
            return self._unscaled(node, node.raw)
        if not isinstance(node, TimestampCodec) or isinstance(node, NanosCodec):
            return self.scalar(node.raw)
        likely = received.millis_at if node.per_second == _MILLIS else received.micros_at
        value = self.source.name()
        self.source.line(f"{value}, p = {self.constant(likely)}(d, p)")
        return value

    def _unscaled(self, node: DecimalCodec, raw: Reader) -> str:
        """Read the bytes of a decimal: at least one, and no more than its digits need."""
        if isinstance(raw, BytesCodec):
            value = self._after(self._length(most=node.longest))
            self.refuse_if(f"not {value}")
        else:
            value = self.set(self.scalar(raw))
            if not isinstance(raw, FixedCodec) or not 0 < raw.size <= node.longest:
                self.refuse_if(f"not 0 < {self.constant(len)}({value}) <= {node.longest}")
        return value

    def string(self) -> str:
        """Read a string."""
        return self._after(self._length(), ".decode()")

    def floats(self, nodes: Sequence[FloatCodec]) -> list[str]:
        """Read adjacent numbers in one call."""
        layout = packing(nodes)
        names = [self.source.name() for _ in nodes]
        self.source.line(f"{', '.join(names)}, = {self.constant(layout.unpack_from)}(d, p)")
        self.source.line(f"p += {layout.size}")
        return names

    def _by_byte(self, table: object) -> str:
        value = self.set(f"{self.constant(table)}[d[p]]")
        self.source.line("p += 1")
        return value

    def _integer(self, longer: object) -> str:
        line, value = self.source.line, self.set(f"{self.constant(received.SHORT)}[d[p]]")
        with self.source.block(f"if {value} is not None"):
            line("p += 1")
        with self.source.block("else"):
            line(f"{value}, p = {self.constant(longer)}(d, p)")
        return value

    def _length(self, most: int | None = None) -> str:
        """Read a length; return the name of the position where the value ends.

        ``p`` is left one byte before the beginning of the value.

        Args:
            most: reject greater lengths, unless the length takes one byte.
        """
        line, end = self.source.line, self.set(f"{self.constant(received.TAKES)}[d[p]]")
        with self.source.block(f"if {end}"):
            line(f"{end} += p")
        with self.source.block("else"):
            line(f"{end}, p = {self.constant(received.length_at)}(d, p)")
            if most is not None:
                self.refuse_if(f"{end} > {most}")
            line(f"{end} += p")
            line("p -= 1")
        return end

    def _after(self, end: str, change: str = "") -> str:
        """Return the bytes from the one after ``p`` to an end."""
        return self._until("p + 1", end, change)

    def _until(self, start: str, end: str, change: str = "") -> str:
        value = self.set(f"d[{start}:{end}]{change}")
        self.source.line(f"p = {end}")
        return value

    def _symbol(self, symbols: dict[int, str]) -> str:
        """Read a symbol; the lookup fails for positions that are not in the table."""
        if max(symbols, default=0) < FEW:
            return self._by_byte({index * 2: symbol for index, symbol in symbols.items()})
        index = self.source.name()
        self.source.line(f"{index}, p = {self.constant(received.int_at)}(d, p)")
        return self.set(f"{self.constant(symbols)}[{index}]")

    def _converted(self, node: Converted) -> str:
        logical = getattr(node.convert, "__self__", None)
        raw = self._unscaled(logical, node.raw) if isinstance(logical, DecimalCodec) else self.scalar(node.raw)
        if isinstance(logical, LogicalCodec):
            return self._made(logical, raw)
        return raw if node.convert is int else f"{self.constant(node.convert)}({raw})"

    def _made(self, node: LogicalCodec, raw: str) -> str:
        """Return an expression for a logical type's value; the codec handles what Python's types cannot hold."""
        if isinstance(node, DateCodec):
            return f"{self.constant(date.fromordinal)}({raw} + {_EPOCH_DAY})"
        if isinstance(node, DecimalCodec):
            unscaled = f"{self.constant(int.from_bytes)}({raw}, {self.source.literal('big')}, signed=True)"
            return f"{self.constant(node.read_unscaled)}({unscaled}, {self.constant(node.unit)})"
        if isinstance(node, NanosCodec):
            return raw
        made = f"{self.constant(node.made)}({raw})"
        if isinstance(node, TimestampCodec) and not isinstance(node, LocalTimestampCodec):
            moment = f"{self.constant(datetime.fromtimestamp)}({raw} / {node.per_second}, {self.constant(UTC)})"
            return f"({moment} if 0 <= {raw} < {_EXACT_SECONDS * node.per_second} else {made})"
        return made


def _wanted_symbols(node: SymbolReader) -> dict[int, str]:
    """Return the reader's symbol for each symbol of the writer; those without one are left out."""
    if not isinstance(node.written, EnumCodec):
        raise Unfit
    default = node.wanted.default
    known = (symbol if symbol in node.wanted.symbols else default for symbol in node.written.symbols)
    return {index: symbol for index, symbol in enumerate(known) if symbol is not None}
