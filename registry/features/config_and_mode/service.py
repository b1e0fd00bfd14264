"""Config and mode, set per subject, per context, or globally."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from contractlog.compatibility.errors import (
    InvalidMode,
    LevelNotConfigured,
    ModeNotConfigured,
    ModesFrozen,
    SubjectNotFound,
)
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject, validate_scope
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import IMPORT_MODES, Mode
from contractlog.compatibility.rule_set_validation import validate_rule_set
from contractlog.registry.access.current_caller import current_permissions, require_alias_permission
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.registration.deletion import purge_deleted_versions
from contractlog.registry.registration.write_preconditions import (
    require_context_permission,
    require_writable_mode,
)
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import ScopeSettings, scope_chain
from contractlog.registry.storage.transaction import Transaction

__all__ = ["ConfigService"]

T = TypeVar("T")

_DEFAULT_MODE: Final = Mode.READWRITE
_DEFAULTED: Final = frozenset({"level", "mode"})  #: settings that always have a value
_DEFAULT_SCOPE: Final = Subject(DEFAULT_CONTEXT, "")
_GLOBAL_SCOPE: Final = Subject(GLOBAL_CONTEXT, "")


class ConfigService(ReadService):
    """Reads and sets configs and modes. A scope with an empty name is a context."""

    def __init__(self, store: Store, threads: ThreadPools, default: Level, *, mutable: bool = True) -> None:
        super().__init__(store, threads)
        self._default = default
        self._mutable = mutable

    async def config(self, scope: Subject, *, inherited: bool) -> ScopeSettings:
        """Return the config of a scope; for the default context, with the server's default if it has none.

        Raises:
            LevelNotConfigured: the scope has no config, and ``inherited`` is not set.
        """
        chain = await self._query(Snapshot.read_settings, scope_chain(scope))
        own = chain[scope].config
        if inherited:
            return self._effective_config(chain)
        if scope == _DEFAULT_SCOPE:
            return self._with_default(own)
        if own.empty:
            raise LevelNotConfigured(subject=str(scope))
        return own if own.level is not None else replace(own, level=self._effective_config(chain).level)

    async def effective_settings(self, scope: Subject) -> tuple[ScopeSettings, dict[str, Subject | None]]:
        """Return the settings in force for a scope, and the scope that each is set for; None: the default."""
        chain = await self._query(Snapshot.read_settings, scope_chain(scope))
        merged = ScopeSettings.merge(chain.values())
        sources = {
            name: next((each for each, settings in chain.items() if getattr(settings, name) is not None), None)
            for name, value in merged.members().items()
            if value is not None or name in _DEFAULTED
        }
        effective = self._with_default(merged)
        return replace(effective, mode=effective.mode or _DEFAULT_MODE), sources

    async def set_config(self, scope: Subject, patch: Mapping[str, Any]) -> ScopeSettings:
        """Change the members in the patch (None clears one), and return the scope's settings after that.

        Raises:
            SubjectReadOnly, InvalidSubject, InvalidRuleSet: nothing changed.
        """
        validate_scope(scope)
        for name in ("alias", "alias_for_deks"):
            require_alias_permission(scope, patch.get(name))
        validate_rule_set(patch.get("default_rule_set"))
        validate_rule_set(patch.get("override_rule_set"))

        def work(transaction: Transaction) -> ScopeSettings:
            chain = transaction.read_settings(scope_chain(scope))
            require_writable_mode(scope, ScopeSettings.merge(chain.values()))
            configured = replace(chain[scope], **patch)
            transaction.configure(scope, configured)
            return configured.config

        return await self._change(scope, work)

    async def delete_config(self, scope: Subject) -> ScopeSettings:
        """Delete the config of a scope, and return it as ``config`` would have shown it.

        Raises:
            SubjectNotFound: the scope had no config.
            SubjectReadOnly: nothing changed.
        """

        def work(transaction: Transaction) -> ScopeSettings:
            chain = transaction.read_settings(scope_chain(scope))
            own = chain[scope]
            if scope != _DEFAULT_SCOPE and own.config.empty:
                raise SubjectNotFound(subject=str(scope))
            require_writable_mode(scope, ScopeSettings.merge(chain.values()))
            transaction.configure(scope, ScopeSettings(mode=own.mode))
            return own.config if scope != _DEFAULT_SCOPE else self._with_default(own.config)

        return await self._change(scope, work)

    async def mode(self, scope: Subject, *, inherited: bool) -> Mode:
        """Return the mode of a scope; for the default context, the server's default if it has none.

        Raises:
            ModeNotConfigured: the scope has no mode, and ``inherited`` is not set.
        """
        chain = await self._query(Snapshot.read_settings, scope_chain(scope))
        if inherited:
            return ScopeSettings.merge(chain.values()).mode or _DEFAULT_MODE
        own = chain[scope].mode
        if scope == _DEFAULT_SCOPE:
            return own or _DEFAULT_MODE
        if own is None:
            raise ModeNotConfigured(subject=str(scope))
        return own

    async def set_mode(self, scope: Subject, mode: Mode | None, *, force: bool = False) -> Mode | None:
        """Set the mode of a scope; None clears it.

        IMPORT requires that nothing in the scope is live, and hard-deletes what is soft-deleted; ``force`` skips both.

        Raises:
            Denied: IMPORT permits requests to name ids, and the caller may not write all of the context.
            InvalidMode: FORWARD is only for all contexts together.
            ModesFrozen, SubjectsExist, InvalidSubject: nothing changed.
        """
        validate_scope(scope)
        self._require_mutable()
        if mode is Mode.FORWARD and scope != _GLOBAL_SCOPE:
            raise InvalidMode("Forward mode only supported on global level")
        if mode in IMPORT_MODES:
            require_context_permission(current_permissions.get(), scope.context)

        def work(transaction: Transaction) -> Mode | None:
            chain = transaction.read_settings(scope_chain(scope))
            before = ScopeSettings.merge(chain.values()).mode
            if mode is Mode.IMPORT and before is not Mode.IMPORT and not force:
                purge_deleted_versions(transaction, scope)
            transaction.configure(scope, replace(transaction.read_settings([scope])[scope], mode=mode))
            return mode

        return await self._change(scope if mode is not Mode.IMPORT else _GLOBAL_SCOPE, work)

    async def delete_mode(self, scope: Subject, *, recursive: bool = False) -> Mode:
        """Delete the mode of a scope, and return the one that was in force; ``recursive`` includes subjects.

        Raises:
            SubjectNotFound: the scope had no mode, and ``recursive`` is not set.
            ModesFrozen: nothing changed.
        """
        self._require_mutable()

        def work(transaction: Transaction) -> Mode:
            chain = transaction.read_settings(scope_chain(scope))
            own = chain[scope]
            if own.mode is None and not recursive:
                raise SubjectNotFound(subject=str(scope))
            below = transaction.settings_with_mode(scope) if recursive and not scope.name else {}
            for other_scope, configured in {scope: own, **below}.items():
                if configured.mode is not None:
                    transaction.configure(other_scope, replace(configured, mode=None))
            return ScopeSettings.merge(chain.values()).mode or _DEFAULT_MODE

        return await self._change(scope if not recursive else _GLOBAL_SCOPE, work)

    def _require_mutable(self) -> None:
        if not self._mutable:
            raise ModesFrozen

    def _effective_config(self, chain: Mapping[Subject, ScopeSettings]) -> ScopeSettings:
        return self._with_default(ScopeSettings.merge(chain.values()).config)

    def _with_default(self, configured: ScopeSettings) -> ScopeSettings:
        return configured if configured.level is not None else replace(configured, level=self._default)

    async def _change(self, scope: Subject, work: Callable[[Transaction], T]) -> T:
        contexts = None if scope == _GLOBAL_SCOPE or scope.context == GLOBAL_CONTEXT else {scope.context}
        return await self._store.change(work, contexts=contexts)
