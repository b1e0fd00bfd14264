"""Calls about config: compatibility level and other settings of a subject, a context or the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contractlog.clients.calls.call import Call, SubjectLike, flags, scope
from contractlog.clients.values import Config
from contractlog.compatibility.level import Level
from contractlog.compatibility.policy import Policy

__all__ = ["config", "delete_config", "delete_level", "level", "policy", "set_config", "set_level", "set_policy"]


def config(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Config]:
    """GET /config[/{subject}]."""
    return Call("GET", scope("config", subject), Config.from_body, flags(defaultToGlobal=inherited))


def set_config(value: Config | Mapping[str, Any], subject: SubjectLike | None = None) -> Call[Config]:
    """PUT /config[/{subject}]: absent members stay unchanged, None clears one."""
    body = value.body() if isinstance(value, Config) else dict(value)
    return Call("PUT", scope("config", subject), Config.from_body, body=body)


def delete_config(subject: SubjectLike | None = None) -> Call[Config]:
    """DELETE /config[/{subject}]; the response is the config that was in force."""
    return Call("DELETE", scope("config", subject), Config.from_body, repeatable=False)


def level(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Level]:
    """GET /config[/{subject}]."""
    return Call(
        "GET",
        scope("config", subject),
        lambda body: Level.parse(body["compatibilityLevel"]),
        flags(defaultToGlobal=inherited),
    )


def set_level(value: Level | str, subject: SubjectLike | None = None) -> Call[Level]:
    """PUT /config[/{subject}]."""
    wanted = Level.parse(value)
    return Call(
        "PUT",
        scope("config", subject),
        lambda body: Level.parse(body.get("compatibility") or wanted),
        body={"compatibility": wanted.value},
    )


def delete_level(subject: SubjectLike | None = None) -> Call[Level | None]:
    """DELETE /config[/{subject}]; the response is the level that was in force."""
    return Call("DELETE", scope("config", subject), _level_before, repeatable=False)


def policy(subject: SubjectLike | None = None) -> Call[Policy]:
    """GET /config[/{subject}]: the compatibility policy for JSON schemas, its own or inherited."""
    return Call("GET", scope("config", subject), _policy_of, flags(defaultToGlobal=True))


def set_policy(value: Policy, subject: SubjectLike | None = None) -> Call[Policy]:
    """PUT /config[/{subject}]; EXACT is an extension of contractlog and takes precedence over the others."""
    exact = {"contractlogPolicy": value.value}
    body = exact if value is Policy.EXACT else {"compatibilityPolicy": value.value, "contractlogPolicy": None}
    return Call("PUT", scope("config", subject), _policy_of, body=body)


def _policy_of(body: Any) -> Policy:
    text = body.get("contractlogPolicy") or body.get("compatibilityPolicy")
    return Policy(text) if text in set(Policy) else Policy.STRICT


def _level_before(body: Any) -> Level | None:
    text = body.get("compatibilityLevel") or body.get("compatibility")
    return Level.parse(text) if text else None
