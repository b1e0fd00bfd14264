"""Config and mode: set for subjects, contexts or globally, and inherited."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from support.registry_model.contents import Rejected

__all__ = ["ADDED_MEMBERS", "DEFAULT", "GLOBAL", "IMPORTING", "Scopes", "context_of"]

DEFAULT: Final = "."  #: the scope of the default context
GLOBAL: Final = ":.__GLOBAL:"
IMPORTING: Final = {"IMPORT", "FORWARD"}
ADDED_MEMBERS: Final = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")
_OWN: Final = ("alias", "aliasForDeks")
_READ_ONLY: Final = {"READONLY", "READONLY_OVERRIDE"}
_MODE: Final = "mode"


def context_of(subject: str) -> str:
    """Return the context of a subject, as a scope: ``.`` or ``:.eu:``."""
    return subject[: subject.index(":", 1) + 1] if subject.startswith(":.") else DEFAULT


@dataclass
class Scopes:
    """Config and mode of each scope; members are named as in the API, and ``mode``."""

    set: dict[str, dict[str, Any]] = field(default_factory=dict)

    def get_own_config(self, scope: str) -> dict[str, Any]:
        """Return the config of one scope, without its mode."""
        return {name: value for name, value in self.set.get(scope, {}).items() if name != _MODE}

    def get_effective_config(self, subject: str) -> dict[str, Any]:
        """Return the effective config; members that are added to drafts come from a single scope."""
        chain = dict.fromkeys((subject, context_of(subject), GLOBAL))
        members: dict[str, Any] = {}
        for scope in chain:
            members = {
                name: value for name, value in self.set.get(scope, {}).items() if name not in ADDED_MEMBERS
            } | members
        nearest: dict[str, Any] = next(
            (own_config for scope in chain if (own_config := self.get_own_config(scope))), {}
        )
        added = {name: nearest[name] for name in ADDED_MEMBERS if name in nearest}
        own_config = self.get_own_config(subject)
        return (
            {k: v for k, v in members.items() if k not in _OWN}
            | added
            | {k: own_config[k] for k in _OWN if k in own_config}
        )

    def mode(self, scope: str) -> str:
        """Return the mode in force."""
        mode: str = self.get_effective_config(scope).get(_MODE, "READWRITE")
        return mode

    def resolve_alias(self, subject: str) -> str:
        """Resolve an alias once; it is in the subject's context unless it names another one."""
        alias: str | None = self.set.get(subject, {}).get("alias")
        if alias is None or alias.startswith(":."):
            return alias or subject
        context = context_of(subject)
        return alias if context == DEFAULT else context + alias

    def require_writable(self, scope: str) -> None:
        """Raise if the scope is read-only."""
        if self.mode(scope) in _READ_ONLY:
            raise Rejected(42205)

    def update(self, scope: str, members: dict[str, Any]) -> dict[str, Any]:
        """Set the given members, clear those that are None, and return the new config."""
        self.require_writable(scope)
        self._put(scope, self.set.get(scope, {}) | members)
        return self.get_own_config(scope)

    def delete_config(self, scope: str) -> None:
        """Delete a config, without the mode."""
        if scope != DEFAULT and not self.get_own_config(scope):
            raise Rejected(40401)
        self.require_writable(scope)
        self._put(scope, {_MODE: self.set.get(scope, {}).get(_MODE)})

    def set_mode(self, scope: str, mode: str | None) -> None:
        """Set or clear a mode."""
        self._put(scope, self.set.get(scope, {}) | {_MODE: mode})

    def drop_mode(self, scope: str, *, recursive: bool) -> str:
        """Delete a mode, and with ``recursive`` those below it; return the previous mode."""
        previous_mode = self.mode(scope)
        if _MODE not in self.set.get(scope, {}) and not recursive:
            raise Rejected(40401)
        for scope_name in list(self.set):
            if scope_name == scope or (recursive and scope in {context_of(scope_name), GLOBAL}):
                self.set_mode(scope_name, None)
        return previous_mode

    def _put(self, scope: str, members: dict[str, Any]) -> None:
        self.set[scope] = {name: value for name, value in members.items() if value is not None}
        if not self.set[scope]:
            del self.set[scope]
