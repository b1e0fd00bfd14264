"""Pairs of schemas that no record can pass, whatever it holds: found when a reader is prepared, before any record."""

from __future__ import annotations

from contractlog.serdes.avro.codecs import Reader
from contractlog.serdes.avro.failure import Failure
from contractlog.serdes.avro.resolved import NamedRecord, RecordReader, Unreadable
from contractlog.serdes.errors import ReaderMismatch

__all__ = ["refuse_hopeless"]


def refuse_hopeless(reader: Reader) -> None:
    """Return where some records may be read; what is behind unions, arrays and maps may never be met.

    Raises:
        ReaderMismatch: none can.
    """
    waiting: list[tuple[str, Reader]] = [("", reader)]
    seen: set[int] = set()
    while waiting:
        place, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Unreadable):
            raise ReaderMismatch(reason=node.reason, field=place)
        if isinstance(node, NamedRecord):
            waiting.append((place, node.record))
        if isinstance(node, RecordReader):
            _refuse_missing(place, node)
            waiting += [(_inside(place, name), inner) for name, _, inner in reversed(node.steps)]


def _refuse_missing(place: str, record: RecordReader) -> None:
    for name, default in record.missing:
        try:
            default()
        except Failure as failure:
            raise ReaderMismatch(reason=failure.reason, field=_inside(place, name)) from None


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
