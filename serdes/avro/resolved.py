"""The readers of what one schema wrote and another one wants; ``resolve.py`` puts them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from contractlog.compatibility.avro.nodes import Enum
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.avro.binary import Source
from contractlog.serdes.avro.codecs import Codec, Reader
from contractlog.serdes.avro.containers import opened
from contractlog.serdes.avro.failure import Failure

__all__ = ["Converted", "Mismatch", "NamedRecord", "RecordReader", "SymbolReader", "Unreadable", "WriterUnion"]


class Mismatch(Failure):
    """The reader's schema cannot follow the writer's here; the bytes are not to blame."""

    def __init__(self, reason: str) -> None:
        super().__init__(None, reason)


class Unreadable(Reader):
    """A type that the reader does not take; it fails when a record meets it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def read(self, source: Source, depth: int) -> Any:
        """Raise ``Mismatch``."""
        del source, depth
        raise Mismatch(self.reason)


class NamedRecord(Reader):
    """Its record may still be untied, so what is asked of it is passed on."""

    def __init__(self, name: str, record: Reader) -> None:
        self.name = name
        self.record = record

    def read(self, source: Source, depth: int) -> tuple[str, Any]:
        """Return the record's name and the record."""
        return self.name, self.record.read(source, depth)

    @property
    def empty(self) -> bool:  # type: ignore[override]
        """Whether the record can take no bytes at all."""
        return self.record.empty

    @property
    def cost(self) -> int:  # type: ignore[override]
        """What it counts for then."""
        return self.record.cost


class Converted(Reader):
    """A value made of a raw one, by a promotion or the reader's logical type."""

    def __init__(self, raw: Reader, convert: Callable[[Any], Any]) -> None:
        self.raw = raw
        self.convert = convert
        self.empty = raw.empty

    def read(self, source: Source, depth: int) -> Any:
        """Return what the raw value becomes."""
        return self.convert(self.raw.read(source, depth))


class WriterUnion(Reader):
    """What a union wrote, each branch read in its own way."""

    def __init__(self, branches: Sequence[Reader]) -> None:
        self.branches = branches

    def read(self, source: Source, depth: int) -> Any:
        """Return the value of the branch that is named."""
        index = source.read_int()
        if not 0 <= index < len(self.branches):
            raise Failure(Outcome.BAD_UNION_INDEX, f"branch {index} of a union that has {len(self.branches)}")
        return self.branches[index].read(source, depth)


class SymbolReader(Reader):
    """A symbol as the reader's enum knows it."""

    def __init__(self, written: Codec, wanted: Enum) -> None:
        self.written = written
        self.wanted = wanted

    def read(self, source: Source, depth: int) -> str:
        """Return the symbol, or the default of the reader's enum."""
        symbol: str = self.written.read(source, depth)
        if symbol in self.wanted.symbols:
            return symbol
        if self.wanted.default is None:
            raise Mismatch(f"the reader's enum {self.wanted.name} has neither the symbol {symbol} nor a default")
        return self.wanted.default


class RecordReader(Reader):
    """Fields in the writer's order, those that are wanted under the reader's names, and the reader's defaults."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.steps: list[tuple[str, str | None, Reader]] = []  # writer's name, reader's name, how it is read
        self.missing: list[tuple[str, Callable[[], Any]]] = []

    def tie(
        self,
        names: list[str],
        steps: list[tuple[str, str | None, Reader]],
        missing: list[tuple[str, Callable[[], Any]]],
    ) -> None:
        """Take the fields, which may lead back to this record."""
        self.names, self.steps, self.missing = names, steps, missing

    def read(self, source: Source, depth: int) -> dict[str, Any]:
        """Return the fields in the reader's order."""
        depth = opened(depth)
        read: dict[str, Any] = {}
        name = ""
        try:
            for name, target, reader in self.steps:  # noqa: B007 -- where it failed
                value = reader.read(source, depth)
                if target is not None:
                    read[target] = value
            for name, default in self.missing:
                read[name] = default()
        except Failure as failure:
            failure.inside(name)
            raise
        return {name: read[name] for name in self.names}
