"""Detection of schema pairs under which no record can be read, before any record is read."""

from __future__ import annotations

from contractlog.serdes.avro.interpreter.codecs import ValueReader
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.avro.interpreter.resolved_readers import NamedRecordReader, RecordReader, UnreadableReader
from contractlog.serdes.errors import ReaderMismatch

__all__ = ["require_readable"]


def require_readable(reader: ValueReader) -> None:
    """Check that some record may be readable.

    Unions, arrays and maps are not searched, as a record may not use the unreadable part.

    Raises:
        ReaderMismatch: no record is readable.
    """
    waiting: list[tuple[str, ValueReader]] = [("", reader)]
    seen: set[int] = set()
    while waiting:
        path, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, UnreadableReader):
            raise ReaderMismatch(reason=node.reason, field=path)
        if isinstance(node, NamedRecordReader):
            waiting.append((path, node.record))
        if isinstance(node, RecordReader):
            _check_defaults(path, node)
            waiting += [(_join_path(path, name), inner) for name, _, inner in reversed(node.steps)]


def _check_defaults(place: str, record: RecordReader) -> None:
    for name, default in record.missing:
        try:
            default()
        except CodecFailure as failure:
            raise ReaderMismatch(reason=failure.reason, field=_join_path(place, name)) from None


def _join_path(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
