# made by docs/generate.py from clients/blocking/levels.py: change that, then `make docs`

"""Config and modes: of a subject, of a context (``:.context:``), or of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contractlog.clients import calls
from contractlog.clients.awaited.sender import Sender
from contractlog.clients.calls import SubjectLike
from contractlog.clients.values import Config
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.policy import Policy

__all__ = ["Levels"]


class Levels(Sender):
    """Calls about what is set."""

    async def config(self, subject: SubjectLike | None = None, *, inherited: bool = True) -> Config:
        """Return all that is set for a subject, or for the registry.

        Raises:
            LevelNotConfigured: the subject has nothing of its own, and ``inherited`` is false.
        """
        return await self.send(calls.config(subject, inherited=inherited))

    async def set_config(self, config: Config | Mapping[str, Any], subject: SubjectLike | None = None) -> Config:
        """Set members of config and return all; what is not named stays.

        Args:
            config: what is set in it is set; or a mapping with the members' names on the wire, where None clears.
            subject: None means the registry.
        """
        return await self.send(calls.set_config(config, subject))

    async def delete_config(self, subject: SubjectLike | None = None) -> Config:
        """Let a subject inherit everything again; return what was in force."""
        return await self.send(calls.delete_config(subject))

    async def level(self, subject: SubjectLike | None = None, *, inherited: bool = True) -> Level:
        """Return the level of a subject, or of the registry.

        Raises:
            LevelNotConfigured: the subject has none of its own, and ``inherited`` is false.
        """
        return await self.send(calls.level(subject, inherited=inherited))

    async def set_level(self, level: Level | str, subject: SubjectLike | None = None) -> Level:
        """Set the level of a subject, or of the registry, and return it."""
        return await self.send(calls.set_level(level, subject))

    async def delete_level(self, subject: SubjectLike | None = None) -> Level | None:
        """Let a subject inherit its level again; return the one that was in force, where the answer tells."""
        return await self.send(calls.delete_level(subject))

    async def policy(self, subject: SubjectLike | None = None) -> Policy:
        """Return how differences between JSON schemas are held against a subject; STRICT where nothing is set."""
        return await self.send(calls.policy(subject))

    async def set_policy(self, policy: Policy, subject: SubjectLike | None = None) -> Policy:
        """Set how differences between JSON schemas are held against a subject, and return it."""
        return await self.send(calls.set_policy(policy, subject))

    async def mode(self, subject: SubjectLike | None = None, *, inherited: bool = True) -> Mode:
        """Return what may be written to a subject, or to the registry.

        Raises:
            ModeNotConfigured: the subject has none of its own, and ``inherited`` is false.
        """
        return await self.send(calls.mode(subject, inherited=inherited))

    async def set_mode(self, mode: Mode | str, subject: SubjectLike | None = None, *, force: bool = False) -> Mode:
        """Set what may be written to a subject, or to the registry, and return it."""
        return await self.send(calls.set_mode(mode, subject, force=force))

    async def delete_mode(self, subject: SubjectLike | None = None, *, recursive: bool = False) -> Mode:
        """Let a subject inherit its mode again; return the one that was in force."""
        return await self.send(calls.delete_mode(subject, recursive=recursive))
