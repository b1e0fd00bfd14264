"""Calls about config and mode of a subject, a context or the registry."""

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
    """GET /config[/{subject}]."""
    return Call("GET", scoped_path("config", subject), Config.from_body, flag_parameters(defaultToGlobal=inherited))


def set_config(value: Config | Mapping[str, Any], subject: SubjectLike | None = None) -> Call[Config]:
    """PUT /config[/{subject}]: absent members stay unchanged, None clears one."""
    body = value.body() if isinstance(value, Config) else dict(value)
    return Call("PUT", scoped_path("config", subject), Config.from_body, body=body)


def delete_config(subject: SubjectLike | None = None) -> Call[Config]:
    """DELETE /config[/{subject}]; the response is the config that was in force."""
    return Call("DELETE", scoped_path("config", subject), Config.from_body, repeatable=False)


def level(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Level]:
    """GET /config[/{subject}]."""
    return Call(
        "GET",
        scoped_path("config", subject),
        lambda body: Level.parse(body["compatibilityLevel"]),
        flag_parameters(defaultToGlobal=inherited),
    )


def set_level(value: Level | str, subject: SubjectLike | None = None) -> Call[Level]:
    """PUT /config[/{subject}]."""
    requested = Level.parse(value)
    return Call(
        "PUT",
        scoped_path("config", subject),
        lambda body: Level.parse(body.get("compatibility") or requested),
        body={"compatibility": requested.value},
    )


def delete_level(subject: SubjectLike | None = None) -> Call[Level | None]:
    """DELETE /config[/{subject}]; the response is the level that was in force."""
    return Call("DELETE", scoped_path("config", subject), _parse_previous_level, repeatable=False)


def policy(subject: SubjectLike | None = None) -> Call[Policy]:
    """GET /config[/{subject}]: the compatibility policy for JSON schemas, its own or inherited."""
    return Call("GET", scoped_path("config", subject), _parse_policy, flag_parameters(defaultToGlobal=True))


def set_policy(value: Policy, subject: SubjectLike | None = None) -> Call[Policy]:
    """PUT /config[/{subject}]; EXACT is an extension of contractlog and takes precedence over the others."""
    exact = {"contractlogPolicy": value.value}
    body = exact if value is Policy.EXACT else {"compatibilityPolicy": value.value, "contractlogPolicy": None}
    return Call("PUT", scoped_path("config", subject), _parse_policy, body=body)


def mode(subject: SubjectLike | None = None, *, inherited: bool = True) -> Call[Mode]:
    """GET /mode[/{subject}]."""
    return Call(
        "GET",
        scoped_path("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        flag_parameters(defaultToGlobal=inherited),
    )


def set_mode(value: Mode | str, subject: SubjectLike | None = None, *, force: bool = False) -> Call[Mode]:
    """PUT /mode[/{subject}]; IMPORT needs ``force`` if there are schemas already."""
    requested = Mode.parse(value)
    return Call(
        "PUT",
        scoped_path("mode", subject),
        lambda body: Mode.parse(body["mode"]),
        flag_parameters(force=force),
        {"mode": requested.value},
    )


def delete_mode(subject: SubjectLike | None = None, *, recursive: bool = False) -> Call[Mode]:
    """DELETE /mode[/{subject}]; the response is the mode that was in force."""
    path, query = scoped_path("mode", subject), flag_parameters(recursive=recursive)
    return Call("DELETE", path, lambda body: Mode.parse(body["mode"]), query, repeatable=False)


def _parse_policy(body: Any) -> Policy:
    text = body.get("contractlogPolicy") or body.get("compatibilityPolicy")
    return Policy(text) if text in set(Policy) else Policy.STRICT


def _parse_previous_level(body: Any) -> Level | None:
    text = body.get("compatibilityLevel") or body.get("compatibility")
    return Level.parse(text) if text else None
