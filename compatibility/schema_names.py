"""Names by which schemas refer to each other: those that a schema defines, and those that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["ExternalName", "SchemaNames"]


class ExternalName(NamedTuple):
    """A name that a schema text uses and does not define."""

    name: str  #: name of the reference that resolves it
    path: str = ""  #: relative path of the file that it may mean, as written; empty if it cannot be a path


@dataclass(frozen=True, slots=True)
class SchemaNames:
    """The names in the text of a schema."""

    root: str = ""  #: name of the whole schema; empty if it has none
    record: str = ""  #: the subject by the strategy RecordName; empty if the strategy does not apply
    defined: tuple[str, ...] = ()  #: all names that other texts can use, the root's included
    external: tuple[ExternalName, ...] = ()  #: in the order of their first use
