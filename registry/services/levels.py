"""Config and mode, set per subject, per context, or globally."""

from __future__ import annotations

import asyncio
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
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.names import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject
from contractlog.compatibility.rule_structure import check_rules
from contractlog.registry.access.actor import current_rights, require_alias
from contractlog.registry.services.permits import IMPORTING, refuse_read_only, require_context
from contractlog.registry.services.retirement import make_room
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.values import Configured, scopes
from contractlog.registry.storage.writes import Transaction

__all__ = ["Levels"]

T = TypeVar("T")

_DEFAULT_MODE: Final = Mode.READWRITE
_ALL: Final = Subject(DEFAULT_CONTEXT, "")
_EVERYWHERE: Final = Subject(GLOBAL_CONTEXT, "")


class Levels:
    """Reads and sets configs and modes. A scope with an empty name is a context."""

    def __init__(self, store: Store, threads: Threads, default: Level, *, mutable: bool = True) -> None:
        self._store = store
        self._threads = threads
        self._default = default
        self._mutable = mutable

    async def config(self, scope: Subject, *, inherited: bool) -> Configured:
        """Return the config of a scope; for the default context, with the server's default if it has none.

        Raises:
            LevelNotConfigured: the scope has no config, and ``inherited`` is not set.
        """
        chain = await self._threads.run(self._chain, scope)
        own = chain[scope].config
        if inherited:
            return self._in_force(chain)
        if scope == _ALL:
            return self._with_default(own)
        if own.empty:
            raise LevelNotConfigured(subject=str(scope))
        return own if own.level is not None else replace(own, level=self._in_force(chain).level)

    async def set_config(self, scope: Subject, patch: Mapping[str, Any]) -> Configured:
        """Change the members in the patch (None clears one), and return the scope's settings after that.

        Raises:
            SubjectReadOnly, InvalidSubject, InvalidRuleSet: nothing changed.
        """
        scope.validated() if scope.name else None
        require_alias(scope, patch.get("alias"))
        check_rules(patch.get("default_rule_set"))
        check_rules(patch.get("override_rule_set"))

        def work(transaction: Transaction) -> Configured:
            chain = transaction.configured(scopes(scope))
            refuse_read_only(scope, Configured.inherited(chain.values()))
            configured = replace(chain[scope], **patch)
            transaction.configure(scope, configured)
            return configured.config

        return await self._change(scope, work)

    async def delete_config(self, scope: Subject) -> Configured:
        """Delete the config of a scope, and return it as ``config`` would have shown it.

        Raises:
            SubjectNotFound: the scope had no config.
            SubjectReadOnly: nothing changed.
        """

        def work(transaction: Transaction) -> Configured:
            chain = transaction.configured(scopes(scope))
            own = chain[scope]
            if scope != _ALL and own.config.empty:
                raise SubjectNotFound(subject=str(scope))
            refuse_read_only(scope, Configured.inherited(chain.values()))
            transaction.configure(scope, Configured(mode=own.mode))
            return own.config if scope != _ALL else self._with_default(own.config)

        return await self._change(scope, work)

    async def mode(self, scope: Subject, *, inherited: bool) -> Mode:
        """Return the mode of a scope; for the default context, the server's default if it has none.

        Raises:
            ModeNotConfigured: the scope has no mode, and ``inherited`` is not set.
        """
        chain = await self._threads.run(self._chain, scope)
        if inherited:
            return Configured.inherited(chain.values()).mode or _DEFAULT_MODE
        own = chain[scope].mode
        if scope == _ALL:
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
        scope.validated() if scope.name else None
        self._require_mutable()
        if mode is Mode.FORWARD and scope != _EVERYWHERE:
            raise InvalidMode("Forward mode only supported on global level")
        if mode in IMPORTING:
            require_context(current_rights.get(), scope.context)

        def work(transaction: Transaction) -> Mode | None:
            chain = transaction.configured(scopes(scope))
            before = Configured.inherited(chain.values()).mode
            if mode is Mode.IMPORT and before is not Mode.IMPORT and not force:
                make_room(transaction, scope)
            transaction.configure(scope, replace(transaction.configured([scope])[scope], mode=mode))
            return mode

        return await self._change(scope if mode is not Mode.IMPORT else _EVERYWHERE, work)

    async def delete_mode(self, scope: Subject, *, recursive: bool = False) -> Mode:
        """Delete the mode of a scope, and return the one that was in force; ``recursive`` includes subjects.

        Raises:
            SubjectNotFound: the scope had no mode, and ``recursive`` is not set.
            ModesFrozen: nothing changed.
        """
        self._require_mutable()

        def work(transaction: Transaction) -> Mode:
            chain = transaction.configured(scopes(scope))
            own = chain[scope]
            if own.mode is None and not recursive:
                raise SubjectNotFound(subject=str(scope))
            below = transaction.with_modes(scope) if recursive and not scope.name else {}
            for one, configured in {scope: own, **below}.items():
                if configured.mode is not None:
                    transaction.configure(one, replace(configured, mode=None))
            return Configured.inherited(chain.values()).mode or _DEFAULT_MODE

        return await self._change(scope if not recursive else _EVERYWHERE, work)

    def _require_mutable(self) -> None:
        if not self._mutable:
            raise ModesFrozen

    def _chain(self, scope: Subject) -> dict[Subject, Configured]:
        with self._store.reading() as snapshot:
            return snapshot.configured(scopes(scope))

    def _in_force(self, chain: Mapping[Subject, Configured]) -> Configured:
        return self._with_default(Configured.inherited(chain.values()).config)

    def _with_default(self, configured: Configured) -> Configured:
        return configured if configured.level is not None else replace(configured, level=self._default)

    async def _change(self, scope: Subject, work: Callable[[Transaction], T]) -> T:
        contexts = None if scope == _EVERYWHERE or scope.context == GLOBAL_CONTEXT else {scope.context}
        return await asyncio.wrap_future(self._store.change(work, contexts=contexts))
