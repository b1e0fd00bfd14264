"""Compatibility levels, normalization and modes, set per subject, per context, or for all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from contractlog.compatibility.errors import (
    InvalidMode,
    LevelNotConfigured,
    ModeNotConfigured,
    OperationNotPermitted,
    SubjectNotFound,
)
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.names import Subject
from contractlog.registry.access.actor import require_alias
from contractlog.registry.services.registration import refuse_read_only
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.values import Configured, scopes
from contractlog.registry.storage.writes import Transaction

__all__ = ["Levels"]

T = TypeVar("T")

_SETTABLE: Final = frozenset({Mode.READWRITE, Mode.READONLY, Mode.READONLY_OVERRIDE})
_DEFAULT_MODE: Final = Mode.READWRITE


class Levels:
    """Reads and sets what governs registration. A scope with an empty name is a context."""

    def __init__(self, store: Store, threads: Threads, default: Level) -> None:
        self._store = store
        self._threads = threads
        self._default = default

    async def config(self, scope: Subject, *, inherited: bool) -> Configured:
        """Return the config of a scope; contexts always answer with what is in force.

        Raises:
            LevelNotConfigured: the subject has none of its own, and inherited ones were not asked for.
        """
        chain = await self._threads.run(self._chain, scope)
        own = _config_of(chain[scope])
        if not scope.name or inherited:
            return self._in_force(chain)
        if own.empty:
            raise LevelNotConfigured(subject=str(scope))
        return own if own.level is not None else replace(own, level=self._in_force(chain).level)

    async def set_config(self, scope: Subject, patch: Mapping[str, Any]) -> Configured:
        """Change the members that the patch holds (None clears), and return what is set at the scope now.

        Raises:
            SubjectReadOnly, InvalidSubject: nothing changed.
        """
        scope.validated() if scope.name else None
        require_alias(scope, patch.get("alias"))

        def work(transaction: Transaction) -> Configured:
            chain = transaction.configured(scopes(scope))
            refuse_read_only(scope, Configured.inherited(chain.values()))
            configured = replace(chain[scope], **patch)
            transaction.configure(scope, configured)
            return _config_of(configured)

        return await self._change(work)

    async def delete_config(self, scope: Subject) -> Configured:
        """Go back to what is inherited, and return what was in force until now.

        Raises:
            SubjectNotFound: the subject had no config of its own.
            SubjectReadOnly: nothing changed.
        """

        def work(transaction: Transaction) -> Configured:
            chain = transaction.configured(scopes(scope))
            own = chain[scope]
            if scope.name and _config_of(own).empty:
                raise SubjectNotFound(subject=str(scope))
            refuse_read_only(scope, Configured.inherited(chain.values()))
            transaction.configure(scope, Configured(mode=own.mode))
            return _config_of(own) if scope.name else self._in_force(chain)

        return await self._change(work)

    async def mode(self, scope: Subject, *, inherited: bool) -> Mode:
        """Return the mode of a scope; contexts always answer with what is in force.

        Raises:
            ModeNotConfigured: the subject has none of its own, and inherited ones were not asked for.
        """
        chain = await self._threads.run(self._chain, scope)
        if not scope.name or inherited:
            return Configured.inherited(chain.values()).mode or _DEFAULT_MODE
        own = chain[scope].mode
        if own is None:
            raise ModeNotConfigured(subject=str(scope))
        return own

    async def set_mode(self, scope: Subject, mode: Mode | None) -> Mode | None:
        """Set the mode of a scope; None clears it.

        Raises:
            OperationNotPermitted: this release has no such mode.
        """
        scope.validated() if scope.name else None
        if mode is not None and mode not in _SETTABLE:
            if mode is Mode.FORWARD:
                raise InvalidMode("Forward mode only supported on global level")
            raise OperationNotPermitted(f"Mode {mode} is not supported by this release; READWRITE and READONLY are")

        def work(transaction: Transaction) -> Mode | None:
            own = transaction.configured([scope])[scope]
            transaction.configure(scope, replace(own, mode=mode))
            return mode

        return await self._change(work)

    async def delete_mode(self, scope: Subject) -> Mode:
        """Go back to the inherited mode, and return the one that was set.

        Raises:
            SubjectNotFound: the scope had no mode of its own.
        """

        def work(transaction: Transaction) -> Mode:
            own = transaction.configured([scope])[scope]
            if own.mode is None:
                raise SubjectNotFound(subject=str(scope))
            transaction.configure(scope, replace(own, mode=None))
            return own.mode

        return await self._change(work)

    def _chain(self, scope: Subject) -> dict[Subject, Configured]:
        with self._store.reading() as snapshot:
            return snapshot.configured(scopes(scope))

    def _in_force(self, chain: Mapping[Subject, Configured]) -> Configured:
        found = _config_of(Configured.inherited(chain.values()))
        return found if found.level is not None else replace(found, level=self._default)

    async def _change(self, work: Callable[[Transaction], T]) -> T:
        return await asyncio.wrap_future(self._store.change(work))


def _config_of(configured: Configured) -> Configured:
    return replace(configured, mode=None)
