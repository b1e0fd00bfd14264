"""Changes since an entry of the change log, as far as they invalidate what is in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy import Connection, select

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.change_log import read_targets_after

__all__ = ["NewChanges", "find_changed_names", "has_aliases", "read_new_changes"]

#: Actions that change a version of a subject, and nothing that responses about subjects of other names depend on.
_ACTIONS_ON_A_VERSION: Final = frozenset({"version.registered", "version.restored", "version.soft_deleted"})
_MAX_ENTRIES: Final = 1_000  #: of more entries, none is looked at
_ALIASES: Final = select(tables.settings.c.key).where(tables.settings.c.alias.is_not(None)).limit(1)


class _Entry(Protocol):
    """An entry of the change log."""

    @property
    def action(self) -> str:
        """The kind of change."""

    @property
    def target(self) -> str:
        """The version, or anything else, that was changed."""


@dataclass(frozen=True, slots=True)
class NewChanges:
    """Changes that were committed after an entry of the change log.

    Attributes:
        newest: number of the newest entry.
        names: names of the subjects whose versions changed, if nothing else did; None if anything may have changed.
    """

    newest: int
    names: frozenset[str] | None = frozenset()


def read_new_changes(connection: Connection, since: int | None) -> NewChanges:
    """Read what changed after the entry ``since``; None means that anything may have changed.

    A database with fewer entries was restored from a backup, or a replica took over that lacked the last ones.
    """
    newest, entries = read_targets_after(connection, since, _MAX_ENTRIES + 1)
    if since is None or newest < since or len(entries) > _MAX_ENTRIES:
        return NewChanges(newest, None)
    names = find_changed_names(entries)
    if entries and names is not None and has_aliases(connection):
        names = None
    return NewChanges(newest, names)


def has_aliases(connection: Connection) -> bool:
    """Return whether any subject has an alias: then responses about one depend on the versions of another."""
    return connection.execute(_ALIASES).first() is not None


def find_changed_names(entries: Iterable[_Entry]) -> frozenset[str] | None:
    """Return the names of the subjects whose versions changed; None if anything else did.

    The context is left out: a request that names no context may be answered from any context.
    """
    names: set[str] = set()
    for entry in entries:
        if entry.action not in _ACTIONS_ON_A_VERSION:
            return None
        target = entry.target.rpartition("/")[0]
        names |= {Subject.parse(target).name, target}  # a name may begin like a context
    return frozenset(names)
