"""Rules of Avro about what a reader accepts, shared by the compatibility checks and the deserializers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from contractlog.compatibility.avro.types import NamedType, short_name

__all__ = ["READABLE_PRIMITIVES", "reads_definition", "reads_name", "reads_symbols"]

READABLE_PRIMITIVES: Final[Mapping[str, tuple[str, ...]]] = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "string": ("bytes",),
    "bytes": ("string",),
}  #: primitive -> the other primitives that it reads


def reads_definition(reader: NamedType, writer_name: str) -> bool:
    """Return whether a definition accepts one with this full name: see `reads_name`."""
    return reader.name == writer_name or reads_name(
        short_name(reader.name), reader.aliases, short_name(writer_name), writer_name
    )


def reads_name(reader_short: str, reader_aliases: Collection[str], writer_short: str, writer_name: str) -> bool:
    """Return whether a definition accepts one with another name: the same without namespace, or an alias.

    Args:
        reader_short: the reader's name without its namespace.
        reader_aliases: the reader's aliases, full names.
        writer_short: the writer's name without its namespace.
        writer_name: the writer's full name.
    """
    return reader_short == writer_short or writer_name in reader_aliases


def reads_symbols(reader: Collection[str], writer: Collection[str], *, has_default: bool) -> bool:
    """Return whether an enum accepts the symbols of another: it has each of them, or a default."""
    return has_default or frozenset(reader).issuperset(writer)
