"""Config and modes of a subject, of a context (``:.context:``), or of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contractlog.clients.bodies import Config
from contractlog.clients.calls.call import Call, SubjectLike, flag_parameters, scoped_path
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.policy import Policy

__all__ = [
    "config",
    "delete_config",
    "delete_level",
    "delete_mode",
    "level",
    "mode",
    "policy",
    "set_config",
    "set_level",
    "set_mode",
    "set_policy",
]


def config(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Config]:
    """Return the config of a subject, or of the registry.

    Raises:
        LevelNotConfigured: the subject has no config of its own, and ``inherited`` is false.
    """
    return Call("GET", scoped_path("config", subject), Config.from_body, flag_parameters(defaultToGlobal=inherited))


def set_config(config: Config | Mapping[str, Any], subject: SubjectLike | None = None) -> Call[Config]:
    """Change the config of a subject, or of the registry, and return it.

    Args:
        config: its members that are not None are set; in a mapping, with the API's names, None clears one.
        subject: None for the registry.
    """
    body = config.body() if isinstance(config, Config) else dict(config)
    return Call("PUT", scoped_path("config", subject), Config.from_body, body=body)


def delete_config(subject: SubjectLike | None = None) -> Call[Config]:
    """Delete the config of a subject, so that it inherits again; return the config that was in force."""
    return Call("DELETE", scoped_path("config", subject), Config.from_body, repeatable=False)


def level(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Level]:
    """Return the compatibility level of a subject, or of the registry.

    Raises:
        LevelNotConfigured: the subject has no level of its own, and ``inherited`` is false.
    """
    return Call(
        "GET",
        scoped_path("config", subject),
        lambda body: Level.parse(body["compatibilityLevel"]),
        flag_parameters(defaultToGlobal=inherited),
    )


def set_level(level: Level | str, subject: SubjectLike | None = None) -> Call[Level]:
    """Set the compatibility level of a subject, or of the registry, and return it."""
    requested = Level.parse(level)
    return Call(
        "PUT",
        scoped_path("config", subject),
        lambda body: Level.parse(body.get("compatibility") or requested),
        body={"compatibility": requested.value},
    )


def delete_level(subject: SubjectLike | None = None) -> Call[Level | None]:
    """Delete the level of a subject, so that it inherits again; return the old one, or None if unknown."""
    return Call("DELETE", scoped_path("config", subject), _parse_previous_level, repeatable=False)


def policy(subject: SubjectLike | None = None) -> Call[Policy]:
    """Return the compatibility policy for JSON schemas of a subject; STRICT if none is set."""
    return Call("GET", scoped_path("config", subject), _parse_policy, flag_parameters(defaultToGlobal=True))


def set_policy(policy: Policy, subject: SubjectLike | None = None) -> Call[Policy]:
    """Set the compatibility policy for JSON schemas of a subject, and return it."""
    exact = {"contractlogPolicy": policy.value}
    body = exact if policy is Policy.EXACT else {"compatibilityPolicy": policy.value, "contractlogPolicy": None}
    return Call("PUT", scoped_path("config", subject), _parse_policy, body=body)


def mode(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Mode]:
    """Return the mode of a subject, or of the registry.

    Raises:
        ModeNotConfigured: the subject has no mode of its own, and ``inherited`` is false.
    """
    return Call(
        "GET",
        scoped_path("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        flag_parameters(defaultToGlobal=inherited),
    )


def set_mode(mode: Mode | str, subject: SubjectLike | None = None, *, force: bool = False) -> Call[Mode]:
    """Set the mode of a subject, or of the registry, and return it."""
    requested = Mode.parse(mode)
    return Call(
        "PUT",
        scoped_path("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        flag_parameters(force=force),
        {"mode": requested.value},
    )


def delete_mode(subject: SubjectLike | None = None, *, recursive: bool = False) -> Call[Mode]:
    """Delete the mode of a subject, so that it inherits again; return the mode that was in force."""
    path, query = scoped_path("mode", subject), flag_parameters(recursive=recursive)
    return Call("DELETE", path, lambda body: Mode.parse(body["mode"]), query, repeatable=False)


def _parse_policy(body: Any) -> Policy:
    text = body.get("contractlogPolicy") or body.get("compatibilityPolicy")
    return Policy(text) if text in set(Policy) else Policy.STRICT


def _parse_previous_level(body: Any) -> Level | None:
    text = body.get("compatibilityLevel") or body.get("compatibility")
    return Level.parse(text) if text else None
