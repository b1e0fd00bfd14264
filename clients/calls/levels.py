"""Levels and policies: how strictly versions follow each other."""

from __future__ import annotations

from typing import Any

from contractlog.clients.calls.call import Call, SubjectLike, flags, scope
from contractlog.compatibility.level import Level
from contractlog.compatibility.policy import Policy

__all__ = ["delete_level", "level", "policy", "set_level", "set_policy"]


def level(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Level]:
    """GET /config[/{subject}]."""
    return Call(
        "GET",
        scope("config", subject),
        lambda body: Level.parse(body["compatibilityLevel"]),
        () if subject is None else flags(defaultToGlobal=inherited),
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


def policy(subject: SubjectLike | None = None) -> Call[Policy]:
    """GET /config[/{subject}]: how differences between JSON schemas are held against them, inherited or not."""
    return Call("GET", scope("config", subject), _policy_of, () if subject is None else flags(defaultToGlobal=True))


def set_policy(value: Policy, subject: SubjectLike | None = None) -> Call[Policy]:
    """PUT /config[/{subject}]; EXACT is a setting of contractlog alone, and goes before the others."""
    exact = {"contractlogPolicy": value.value}
    body = exact if value is Policy.EXACT else {"compatibilityPolicy": value.value, "contractlogPolicy": None}
    return Call("PUT", scope("config", subject), _policy_of, body=body)


def delete_level(subject: SubjectLike | None = None) -> Call[Level | None]:
    """DELETE /config[/{subject}]; the answer is the level that was in force."""
    return Call("DELETE", scope("config", subject), _level_before, repeatable=False)


def _policy_of(body: Any) -> Policy:
    text = body.get("contractlogPolicy") or body.get("compatibilityPolicy")
    return Policy(text) if text in set(Policy) else Policy.STRICT


def _level_before(body: Any) -> Level | None:
    text = body.get("compatibilityLevel") or body.get("compatibility")
    return Level.parse(text) if text else None
