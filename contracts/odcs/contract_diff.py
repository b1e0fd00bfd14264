"""Changes between two contracts, by section; whether schemas are compatible is not decided here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from contractlog.contracts.odcs.finding import DocumentPath, describe_path

__all__ = ["ContractChange", "list_changes", "may_break_consumers"]

_ABSENT: Final = object()
_FOR_READERS: Final = frozenset({"description", "support"})  #: sections that promise nothing
_PROMISES: Final = frozenset({"service levels", "quality"})  #: sections in which additions promise more
_LABELS: Final = frozenset({"apiVersion", "version", "name"})
#: member that tells the items of a list apart, the first that all of them have
_NAMES: Final = ("name", "id", "property", "server", "role", "channel", "username", "value", "url", "synonym")
_SECTIONS: Final = {
    **dict.fromkeys(("apiVersion", "kind", "id", "version", "status", "name", "tenant", "domain"), "fundamentals"),
    **dict.fromkeys(("description", "context", "tags", "dataProduct", "authoritativeDefinitions"), "description"),
    **dict.fromkeys(("slaProperties", "slaDefaultElement"), "service levels"),
    "schema": "schema",
    "servers": "servers",
    "support": "support",
    "price": "price",
    "team": "team",
    "roles": "roles",
}


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A member that was added, removed or changed."""

    section: str
    path: str  #: with names of items in place of indices
    earlier: Any  #: None if it was added
    later: Any  #: None if it was removed
    kind: str  #: added, removed or changed


def list_changes(earlier: dict[str, Any], later: dict[str, Any]) -> Iterator[ContractChange]:
    """Yield each change, in the order of the earlier contract; quality rules are a section of their own."""
    for path, before, after in _compare(earlier, later, ()):
        section = "quality" if "quality" in path else _SECTIONS.get(str(path[0]), "other members")
        kind = "added" if before is _ABSENT else "removed" if after is _ABSENT else "changed"
        values = [None if each is _ABSENT else each for each in (before, after)]
        yield ContractChange(section, describe_path(path), values[0], values[1], kind)


def may_break_consumers(change: ContractChange) -> bool:
    """Return True if a change may take something away from those who rely on the contract."""
    if change.section in _FOR_READERS or change.path in _LABELS:
        return False
    return change.section not in _PROMISES or change.kind != "added"


def _compare(earlier: Any, later: Any, path: DocumentPath) -> Iterator[tuple[DocumentPath, Any, Any]]:
    if isinstance(earlier, list) and isinstance(later, list):
        before, after = _by_name(earlier, later)
    elif isinstance(earlier, dict) and isinstance(later, dict):
        before, after = earlier, later
    else:
        if repr(earlier) != repr(later):  # 1 is not true
            yield path, earlier, later
        return
    for name in dict.fromkeys((*before, *after)):
        yield from _compare(before.get(name, _ABSENT), after.get(name, _ABSENT), (*path, name))


def _by_name(earlier: list[Any], later: list[Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return the items of two lists by their names, or by their indices if they have none."""
    for name in _NAMES:
        keys = [[each.get(name) if isinstance(each, dict) else None for each in items] for items in (earlier, later)]
        if all(isinstance(key, str) for side in keys for key in side) and all(
            len(set(side)) == len(side) for side in keys
        ):
            return dict(zip(keys[0], earlier, strict=True)), dict(zip(keys[1], later, strict=True))
    return dict(enumerate(earlier)), dict(enumerate(later))
