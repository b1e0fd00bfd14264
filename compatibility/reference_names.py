"""Names by which schemas refer to each other: those that a schema defines, and those that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["ExternalName", "SchemaNames"]


class ExternalName(NamedTuple):
    """A name that a schema text uses and does not define."""

    name: str  #: name of the reference that resolves it
    path: str = ""  #: relative path of the file that it may mean, as written; empty if it cannot be a path
    simple_name: str = ""  #: the name that it means if nothing defines ``name``: the one without a namespace


@dataclass(frozen=True, slots=True)
class SchemaNames:
    """The names in the text of a schema."""

    root: str = ""  #: name of the whole schema; empty if it has none
    type_name: str = ""  #: full name of the type that the root defines; empty if the format has no type names
    record: str = ""  #: the name by which subject name strategies call the schema; empty if it has none
    defined: tuple[str, ...] = ()  #: all names that other texts can use, the root's included
    external: tuple[ExternalName, ...] = ()  #: in the order of their first use
    external_at: tuple[str, ...] = ()  #: JSON Pointer to the first use of each
