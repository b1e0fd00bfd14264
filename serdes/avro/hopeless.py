"""Detection of schema pairs under which no record can be read, before any record is read."""

from __future__ import annotations

from contractlog.serdes.avro.codecs import Reader
from contractlog.serdes.avro.failure import Failure
from contractlog.serdes.avro.resolved import NamedRecord, RecordReader, Unreadable
from contractlog.serdes.errors import ReaderMismatch

__all__ = ["refuse_hopeless"]


def refuse_hopeless(reader: Reader) -> None:
    """Check that some record may be readable.

    Unions, arrays and maps are not searched, as a record may not use the unreadable part.

    Raises:
        ReaderMismatch: no record is readable.
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
