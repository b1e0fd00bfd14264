"""``contractlog config``: settings of a subject, a context or the whole registry."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from contractlog.clients.calls.config_and_mode import Config
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.operations.setting_scopes import (
    CONFIG_FORMAT,
    DEFAULT_SOURCE,
    add_action,
    describe_scope,
    describe_source,
    distinguishes_inherited,
    fetch_sources,
    find_deciding_scope,
    list_scopes,
    read_own_setting,
    read_own_settings,
    report_change,
    select_scope,
)
from contractlog.clients.cli.options import (
    connect,
    parse_level,
    parse_policy,
)
from contractlog.clients.cli.output import apply_output_options, print_json, print_table
from contractlog.clients.cli.registry_lookups import require_supported
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.registry import Registry
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import (
    NotFound,
    ServerError,
    UsageError,
)

__all__ = ["config"]

_LEVEL: Final = "compatibility"
_POLICY_MEMBERS: Final = ("compatibilityPolicy", "contractlogPolicy")
#: Settings by their option: the member of the API's body, and the help text.
_SETTINGS: Final = {
    "level": (_LEVEL, "compatibility level"),
    "normalize": ("normalize", "true or false: store and compare normalized texts"),
    "alias": ("alias", "another subject, which this name stands for"),
    "group": ("compatibilityGroup", "metadata property; only versions with the same value of it are compared"),
    "policy": ("compatibilityPolicy", "compatibility policy for JSON Schema: STRICT, LENIENT or EXACT"),
    "validate-fields": ("validateFields", "true or false: reject reserved and conflicting field names"),
    "validate-new-schemas": ("validateNewSchemas", "true or false: apply the rules for new schemas"),
    "validate-rules": ("validateRules", "true or false: validate rules"),
    "strict-json-schemas": ("strictJsonSchemas", "true or false: reject JSON schemas that violate their meta-schema"),
}
_GLOBAL_OR_DEFAULT: Final = f"{describe_scope(None)} or {DEFAULT_SOURCE}"
_ALWAYS_LISTED: Final = ("level", "policy", "normalize", "alias", "group")
_LONG_MEMBERS: Final = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet", "aliasForDeks")


def config(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show, set or unset the config of a subject, a context or the registry."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add_action(actions, "config get", "show the settings in force, and what each is inherited from", "orders-value")
    setter = add_action(actions, "config set", "set one or several settings", "orders-value --level FULL")
    for name, (_, summary) in _SETTINGS.items():
        metavar, parse = _VALUES.get(name, ("true|false", _parse_flag))
        setter.add_argument(f"--{name}", type=parse, metavar=metavar, help=summary)
    unset = add_action(
        actions, "config unset", "unset all or some settings, so that they are inherited", "orders-value"
    )
    unset.add_argument(
        "--setting",
        action="append",
        default=[],
        choices=tuple(_SETTINGS),
        dest="settings",
        metavar="NAME",
        help=f"only this setting: {', '.join(_SETTINGS)}; may be repeated",
    )
    options = parser.parse_args(argv)
    run = {"get": _get_config, "set": _set_config, "unset": _unset_config}[options.action]
    with apply_output_options(options):
        select_scope(options)
        with connect(options) as registry:
            return run(registry, options)


def _get_config(registry: Registry, options: Namespace) -> int:
    scope = options.subject
    effective = _listed_members(registry.config(scope))
    sources = _find_sources(registry, scope, effective)
    if options.format == "json":
        print_json({"format": CONFIG_FORMAT, "subject": scope, "config": effective, "sources": sources})
        return exit_codes.CLEAN
    rows: list[tuple[str, str | None, str | None]] = []
    for name, (member, _) in _SETTINGS.items():
        if member in effective or name in _ALWAYS_LISTED:
            value = effective.get(member)
            rows.append((name, None if value is None else _format_value(value), sources.get(member)))
    rows += [(each, _format_value(effective[each]), sources.get(each)) for each in _LONG_MEMBERS if each in effective]
    print_table(("SETTING", "VALUE", "FROM"), rows)
    return exit_codes.CLEAN


def _listed_members(config: Config) -> dict[str, Any]:
    """Return the members that are set, with both policies as one: the one that decides."""
    members = config.body()
    policies = [members.pop(name) for name in reversed(_POLICY_MEMBERS) if name in members]
    return members | ({_POLICY_MEMBERS[0]: policies[0]} if policies else {})


def _find_sources(registry: Registry, scope: str | None, effective: dict[str, Any]) -> dict[str, str]:
    """Return the scope that each member in force comes from.

    If the registry does not show it, that is the nearest scope whose own config has this value.
    """
    fetched = fetch_sources(registry, scope)
    if fetched is not None:
        return _name_sources(fetched, effective)
    layers = [
        (name, {} if own is None else _listed_members(own))
        for name, own in read_own_settings(scope, partial(registry.config, inherited=False))
    ]
    sources = {
        member: find_deciding_scope(((name, own.get(member)) for name, own in layers), value)
        for member, value in effective.items()
    }
    if sources.get(_LEVEL) == describe_scope(None):  # the server adds its default there
        sources[_LEVEL] = _GLOBAL_OR_DEFAULT
    level, nearest = effective.get(_LEVEL), layers[0][1]
    if (
        len(layers) > 1
        and nearest.get(_LEVEL) == level
        and (nearest.keys() > {_LEVEL} or not distinguishes_inherited(registry))
    ):
        # The server adds the level in force to a config without one, so an equal one may be inherited.
        inherited = registry.config(list_scopes(scope)[1]).level
        if inherited == level:
            above = find_deciding_scope(((name, own.get(_LEVEL)) for name, own in layers[1:]), level)
            above = _GLOBAL_OR_DEFAULT if above == describe_scope(None) else above
            sources[_LEVEL] = f"{layers[0][0]}, else {above}"
    return sources


def _name_sources(fetched: dict[str, str | None], effective: dict[str, Any]) -> dict[str, str]:
    """Return the kinds of the scopes that a registry has shown, under the names of the members in force."""
    fetched = fetched | {_LEVEL: fetched.get("compatibilityLevel")}
    deciding = next((name for name in reversed(_POLICY_MEMBERS) if name in fetched), None)
    if deciding is not None:
        fetched[_POLICY_MEMBERS[0]] = fetched[deciding]
    return {member: describe_source(fetched.get(member)) for member in effective}


def _set_config(registry: Registry, options: Namespace) -> int:
    body: dict[str, Any] = {}
    for name, (member, _) in _SETTINGS.items():
        value = getattr(options, name.replace("-", "_"))
        if value is None:
            continue
        if name == "policy":
            body |= _policy_body(value)
        else:
            body[member] = value
    if not body:
        raise UsageError(f"name what to set: {', '.join(f'--{name}' for name in _SETTINGS)}")
    registry.set_config(body, options.subject)
    changed = _listed_members(Config.from_body(body))
    settings = {member: name for name, (member, _) in _SETTINGS.items()}
    ignored = _find_ignored(registry, options.subject, changed)
    changed = {member: value for member, value in changed.items() if member not in ignored}
    description = ", ".join(f"{settings[member]} {_format_value(value)}" for member, value in changed.items())
    if changed:
        report_change(options, "config", changed, f"set {description}")
    if not ignored:
        return exit_codes.CLEAN
    names = ", ".join(settings[member] for member in ignored)
    raise UsageError(f"this registry ignored what it does not have: {names}")


def _find_ignored(registry: Registry, scope: str | None, changed: dict[str, Any]) -> list[str]:
    """Return the members that were set and are not in force."""
    if not changed.keys() - {_LEVEL}:  # every registry has levels
        return []
    effective = read_own_setting(lambda: _listed_members(registry.config(scope)), scope)
    return [] if effective is None else [member for member, value in changed.items() if effective.get(member) != value]


def _unset_config(registry: Registry, options: Namespace) -> int:
    names = list(dict.fromkeys(options.settings))
    if names:
        body = {_SETTINGS[name][0]: None for name in names}
        body |= dict.fromkeys(_POLICY_MEMBERS) if "policy" in names else {}
        try:
            registry.set_config(body, options.subject)
        except ServerError as error:  # some registries need a level in the request
            scope = [] if options.subject is None else [options.subject]
            error.facts["details"] = [f"to unset the whole config: {registry_command('config unset', *scope)}"]
            raise
        return report_change(options, "config", dict.fromkeys(names), f"unset {', '.join(names)}")
    try:
        require_supported(registry, lambda: registry.delete_config(options.subject), "cannot unset a config")
    except NotFound:
        return report_change(options, "config", {}, "")
    return report_change(options, "config", dict.fromkeys(_SETTINGS), "unset the whole config")


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _policy_body(policy: Policy) -> dict[str, str | None]:
    if policy is Policy.EXACT:
        return {"contractlogPolicy": policy.value}
    return {"compatibilityPolicy": policy.value, "contractlogPolicy": None}


def _parse_flag(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ArgumentTypeError(f"`{text}` is neither `true` nor `false`")
    return text.lower() == "true"


def _parse_name(text: str) -> str:
    if not text:
        raise ArgumentTypeError("an empty name: `config unset --setting NAME` removes one")
    return text


_VALUES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "level": ("LEVEL", parse_level),
    "alias": ("SUBJECT", _parse_name),
    "group": ("PROPERTY", _parse_name),
    "policy": ("POLICY", parse_policy),
}
