"""File of owners: TOML, with the subjects that are protected, and who approves their changes."""

from __future__ import annotations

import logging
import time
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from contractlog.compatibility.identifiers import GLOBAL_CONTEXT, Subject
from contractlog.registry.access.permissions import SubjectPattern, explain_pattern_mistake
from contractlog.registry.access.reloaded_file import ReloadedFile
from contractlog.registry.access.users_file import Users, UsersFile

__all__ = ["NO_OWNERS", "CurrentOwners", "OwnerRule", "Owners", "OwnersFile", "Protection", "parse_owners"]

_LOG: Final = logging.getLogger("contractlog.registry.access")
_MEMBERS: Final = frozenset({"approvals", "owners", "protect"})
_GROUP: Final = "@"  #: before the name of a group


class Protection(StrEnum):
    """Changes of a subject that need approvals."""

    BREAKING = "breaking"  #: all except new versions that were checked as compatible
    ALL = "all"


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """An entry of the file: subjects, their owners, and the approvals that their changes need."""

    subjects: str  #: the pattern as written
    pattern: SubjectPattern
    owners: frozenset[str]  #: names of users, without groups
    approvals: int = 1
    protect: Protection = Protection.BREAKING

    def applies_to(self, scope: Subject) -> bool:
        """Return True if the rule is for a subject, or for any subject of a context."""
        if scope.name:
            return self.pattern.covers(scope)
        return scope.context == GLOBAL_CONTEXT or any(
            subjects.has_context(scope.context) for subjects in self.pattern.ranges
        )

    def count_missing(self, approvers: frozenset[str]) -> int:
        """Return how many approvals are missing."""
        return max(0, self.approvals - len(approvers & self.owners))


@dataclass(frozen=True, slots=True)
class Owners:
    """All rules of a file; of those for a subject, the last one applies."""

    rules: tuple[OwnerRule, ...] = ()

    def find_rules(self, scope: Subject) -> tuple[OwnerRule, ...]:
        """Return the rule of a subject, or for a context all rules that its settings concern."""
        rules = tuple(rule for rule in reversed(self.rules) if rule.applies_to(scope))
        return rules[:1] if scope.name else rules

    def restrict_to(self, users: Collection[str]) -> Owners:
        """Return the rules without owners that are no users: their approvals no longer count."""
        return Owners(tuple(replace(rule, owners=rule.owners.intersection(users)) for rule in self.rules))


NO_OWNERS: Final = Owners()


class OwnersFile(ReloadedFile[Owners]):
    """The owners of a file; checked for changes every second."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(path, parse_owners, "owners", clock)


class CurrentOwners:
    """The owners of a file who are users of another file."""

    def __init__(self, owners: OwnersFile, users: UsersFile) -> None:
        self._owners = owners
        self._users = users
        self._cached: tuple[Owners, Users, Owners] | None = None  #: contents of the files, and the owners of both
        self._missing: frozenset[str] = frozenset()
        self()

    def __call__(self) -> Owners:
        """Return the owners in force."""
        owners, users, cached = self._owners.content, self._users.users, self._cached
        if cached is None or cached[0] is not owners or cached[1] is not users:
            self._cached = cached = (owners, users, owners.restrict_to(users.by_name.keys()))
            self._warn_of_missing(frozenset().union(*(rule.owners for rule in owners.rules)) - users.by_name.keys())
        return cached[2]

    def _warn_of_missing(self, names: frozenset[str]) -> None:
        """Log owners who are no users, unless they are those of the last warning."""
        if names and names != self._missing:
            _LOG.warning("owners who are not in the users file cannot approve: %s", ", ".join(map(repr, sorted(names))))
        self._missing = names


def parse_owners(text: str) -> Owners:
    """Parse the text of a file.

    Raises:
        ValueError: it is not TOML, or an entry is invalid.
    """
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    unknown = document.keys() - {"groups", "owners"}
    if unknown:
        raise ValueError(f"it has `{min(unknown)}`; there are [groups] and [owners.PATTERN]")
    groups, owners = document.get("groups", {}), document.get("owners", {})
    if not isinstance(groups, dict) or not isinstance(owners, dict) or not owners:  # a truncated file
        raise ValueError("it needs a table [owners.PATTERN], and may have a table [groups]")
    members = {name: _parse_names(f"group `{name}`", names) for name, names in groups.items()}
    return Owners(tuple(_parse_rule(pattern, entry, members) for pattern, entry in owners.items()))


def _parse_rule(pattern: str, entry: Any, groups: Mapping[str, list[str]]) -> OwnerRule:
    label = f"owners of `{pattern}`"
    if not isinstance(entry, dict) or entry.keys() - _MEMBERS:
        raise ValueError(f"{label}: a table with {', '.join(sorted(_MEMBERS))} is needed, and no other member")
    if mistake := explain_pattern_mistake(pattern):
        raise ValueError(f"{label}: {mistake}")
    names: set[str] = set()
    for name in _parse_names(label, entry.get("owners")):
        if name.startswith(_GROUP) and name[1:] not in groups:
            raise ValueError(f"{label}: there is no group `{name[1:]}` in [groups]")
        names.update(groups[name[1:]] if name.startswith(_GROUP) else [name])
    approvals = entry.get("approvals", 1)
    if not isinstance(approvals, int) or isinstance(approvals, bool) or not 1 <= approvals <= len(names):
        raise ValueError(f"{label}: approvals is a number from 1 to that of the owners, which is {len(names)}")
    try:
        protect = Protection(entry.get("protect", Protection.BREAKING))
    except ValueError:
        raise ValueError(f"{label}: protect is one of {', '.join(Protection)}") from None
    return OwnerRule(pattern, SubjectPattern.parse(pattern), frozenset(names), approvals, protect)


def _parse_names(label: str, names: Any) -> list[str]:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f'{label}: a list of names such as ["alice", "bob"] is needed')
    return names
