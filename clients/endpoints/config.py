"""Config and modes of a subject, of a context (``:.context:``), or of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contractlog.clients import calls
from contractlog.clients.bodies import Config
from contractlog.clients.calls import SubjectLike
from contractlog.clients.endpoints.sender import Sender
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.policy import Policy

__all__ = ["ConfigEndpoints"]


class ConfigEndpoints(Sender):
    """Client methods for config and modes."""

    def config(self, subject: SubjectLike | None = None, *, inherited: bool = True) -> Config:
        """Return the config of a subject, or of the registry.

        Raises:
            LevelNotConfigured: the subject has no config of its own, and ``inherited`` is false.
        """
        return self.send(calls.config(subject, inherited=inherited))

    def set_config(self, config: Config | Mapping[str, Any], subject: SubjectLike | None = None) -> Config:
        """Change the config of a subject, or of the registry, and return it.

        Args:
            config: its members that are not None are set; in a mapping, with the API's names, None clears one.
            subject: None for the registry.
        """
        return self.send(calls.set_config(config, subject))

    def delete_config(self, subject: SubjectLike | None = None) -> Config:
        """Delete the config of a subject, so that it inherits again; return the config that was in force."""
        return self.send(calls.delete_config(subject))

    def level(self, subject: SubjectLike | None = None, *, inherited: bool = True) -> Level:
        """Return the compatibility level of a subject, or of the registry.

        Raises:
            LevelNotConfigured: the subject has no level of its own, and ``inherited`` is false.
        """
        return self.send(calls.level(subject, inherited=inherited))

    def set_level(self, level: Level | str, subject: SubjectLike | None = None) -> Level:
        """Set the compatibility level of a subject, or of the registry, and return it."""
        return self.send(calls.set_level(level, subject))

    def delete_level(self, subject: SubjectLike | None = None) -> Level | None:
        """Delete the level of a subject, so that it inherits again; return the old one, or None if unknown."""
        return self.send(calls.delete_level(subject))

    def policy(self, subject: SubjectLike | None = None) -> Policy:
        """Return the compatibility policy for JSON schemas of a subject; STRICT if none is set."""
        return self.send(calls.policy(subject))

    def set_policy(self, policy: Policy, subject: SubjectLike | None = None) -> Policy:
        """Set the compatibility policy for JSON schemas of a subject, and return it."""
        return self.send(calls.set_policy(policy, subject))

    def mode(self, subject: SubjectLike | None = None, *, inherited: bool = True) -> Mode:
        """Return the mode of a subject, or of the registry.

        Raises:
            ModeNotConfigured: the subject has no mode of its own, and ``inherited`` is false.
        """
        return self.send(calls.mode(subject, inherited=inherited))

    def set_mode(self, mode: Mode | str, subject: SubjectLike | None = None, *, force: bool = False) -> Mode:
        """Set the mode of a subject, or of the registry, and return it."""
        return self.send(calls.set_mode(mode, subject, force=force))

    def delete_mode(self, subject: SubjectLike | None = None, *, recursive: bool = False) -> Mode:
        """Delete the mode of a subject, so that it inherits again; return the mode that was in force."""
        return self.send(calls.delete_mode(subject, recursive=recursive))
