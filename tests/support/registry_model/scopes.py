"""Config and mode: set at subjects, contexts and for all, inherited from the nearest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from support.registry_model.contents import Refused

__all__ = ["ADDED", "DEFAULT", "GLOBAL", "IMPORTING", "Scopes", "context_of"]

DEFAULT: Final = "."  #: the scope of the default context
GLOBAL: Final = ":.__GLOBAL:"
IMPORTING: Final = {"IMPORT", "FORWARD"}
ADDED: Final = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")
_OWN: Final = ("alias", "aliasForDeks")
_READ_ONLY: Final = {"READONLY", "READONLY_OVERRIDE"}
_MODE: Final = "mode"


def context_of(subject: str) -> str:
    """Return the context of a subject, as a scope: ``.`` or ``:.eu:``."""
    return subject[: subject.index(":", 1) + 1] if subject.startswith(":.") else DEFAULT


@dataclass
class Scopes:
    """What is set where; the members are those of the API, and ``mode``."""

    set: dict[str, dict[str, Any]] = field(default_factory=dict)

    def own(self, scope: str) -> dict[str, Any]:
        """Return the config of one scope, without its mode."""
        return {name: value for name, value in self.set.get(scope, {}).items() if name != _MODE}

    def in_force(self, subject: str) -> dict[str, Any]:
        """Return what holds: each member from the nearest; what is added to drafts comes from one config."""
        chain = dict.fromkeys((subject, context_of(subject), GLOBAL))
        found: dict[str, Any] = {}
        for scope in chain:
            found = {name: value for name, value in self.set.get(scope, {}).items() if name not in ADDED} | found
        nearest: dict[str, Any] = next((own for scope in chain if (own := self.own(scope))), {})
        added = {name: nearest[name] for name in ADDED if name in nearest}
        own = self.own(subject)
        return {k: v for k, v in found.items() if k not in _OWN} | added | {k: own[k] for k in _OWN if k in own}

    def mode(self, scope: str) -> str:
        """Return the mode in force."""
        found: str = self.in_force(scope).get(_MODE, "READWRITE")
        return found

    def meant(self, subject: str) -> str:
        """Return what a name means: its alias, in its own context unless it names one; one hop."""
        alias: str | None = self.set.get(subject, {}).get("alias")
        if alias is None or alias.startswith(":."):
            return alias or subject
        context = context_of(subject)
        return alias if context == DEFAULT else context + alias

    def refuse_read_only(self, scope: str) -> None:
        """Raise where nothing may be written."""
        if self.mode(scope) in _READ_ONLY:
            raise Refused(42205)

    def patch(self, scope: str, members: dict[str, Any]) -> dict[str, Any]:
        """Set the members that are given, clear those that are None, and return what is set then."""
        self.refuse_read_only(scope)
        self._put(scope, self.set.get(scope, {}) | members)
        return self.own(scope)

    def clear(self, scope: str) -> None:
        """Drop a config; the mode stays."""
        if scope != DEFAULT and not self.own(scope):
            raise Refused(40401)
        self.refuse_read_only(scope)
        self._put(scope, {_MODE: self.set.get(scope, {}).get(_MODE)})

    def set_mode(self, scope: str, mode: str | None) -> None:
        """Set or clear a mode."""
        self._put(scope, self.set.get(scope, {}) | {_MODE: mode})

    def drop_mode(self, scope: str, *, recursive: bool) -> str:
        """Drop a mode, and with ``recursive`` those below it; return the one that held."""
        held = self.mode(scope)
        if _MODE not in self.set.get(scope, {}) and not recursive:
            raise Refused(40401)
        for one in list(self.set):
            if one == scope or (recursive and scope in {context_of(one), GLOBAL}):
                self.set_mode(one, None)
        return held

    def _put(self, scope: str, members: dict[str, Any]) -> None:
        self.set[scope] = {name: value for name, value in members.items() if value is not None}
        if not self.set[scope]:
            del self.set[scope]
