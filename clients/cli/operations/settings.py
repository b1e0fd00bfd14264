"""``contractlog config`` and ``mode``: settings of a subject, a context or the whole registry."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar
from uuid import uuid4

from contractlog.clients.calls.config_and_mode import Config
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.operations.lookups import require_supported
from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    connect,
    parse_level,
    select_context,
)
from contractlog.clients.cli.output import (
    apply_output_options,
    print_json,
    print_message,
    print_result,
    print_table,
    registry_command,
)
from contractlog.clients.registry import Registry
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import (
    Forbidden,
    InvalidMode,
    NotFound,
    RegistryError,
    ServerError,
    UsageError,
)
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject, qualify_subject
from contractlog.compatibility.mode import Mode

__all__ = ["config", "mode"]

CONFIG_FORMAT: Final = "contractlog.config/1"
MODE_FORMAT: Final = "contractlog.mode/1"
_GLOBAL_SCOPE: Final = f":{GLOBAL_CONTEXT}:"
_DEFAULT_SOURCE: Final = "the server's default"
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
_ALWAYS_LISTED: Final = ("level", "policy", "normalize", "alias", "group")
_LONG_MEMBERS: Final = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet", "aliasForDeks")

T = TypeVar("T")


def config(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show, set or unset the config of a subject, a context or the registry."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_action(actions, "config get", "show the settings in force, and what each is inherited from", "orders-value")
    setter = _add_action(actions, "config set", "set one or several settings", "orders-value --level FULL")
    for name, (_, summary) in _SETTINGS.items():
        metavar, parse = _VALUES.get(name, ("true|false", _parse_flag))
        setter.add_argument(f"--{name}", type=parse, metavar=metavar, help=summary)
    unset = _add_action(
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
        _select_scope(options)
        with connect(options) as registry:
            return run(registry, options)


def mode(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show, set or unset the mode of a subject, a context or the registry."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_action(actions, "mode get", "show the mode in force, and what it is inherited from", "orders-value")
    setter = _add_action(actions, "mode set", "set the mode", "orders-value READONLY")
    setter.add_argument("mode", type=_parse_mode, metavar="MODE", help=", ".join(Mode))
    setter.add_argument("--force", action="store_true", help="set IMPORT even where live versions exist")
    _add_action(actions, "mode unset", "unset the mode, so that it is inherited", "orders-value")
    options = parser.parse_args(argv)
    run = {"get": _get_mode, "set": _set_mode, "unset": _unset_mode}[options.action]
    with apply_output_options(options):
        _select_scope(options)
        with connect(options) as registry:
            return run(registry, options)


def _select_scope(options: Namespace) -> None:
    """Qualify the subject with the context of the environment, which is the scope without a subject."""
    context = select_context(options)
    if options.subject is not None or context:
        options.subject = qualify_subject(options.subject or "", context)


def _add_action(actions: Any, name: str, summary: str, example: str) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(
        name.partition(" ")[2],
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n  contractlog {name} {example}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "subject",
        nargs="?",
        type=_parse_scope,
        metavar="SUBJECT|:.CONTEXT:",
        help=f"a subject, a context, or {_GLOBAL_SCOPE} for every context (default: the context of the "
        "environment, else the global one)",
    )
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    return parser


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
    """Return the scope that each member in force comes from: the nearest whose own config has this value."""
    layers = []
    for name in _scope_chain(scope):
        own = _read_own(lambda name=name: registry.config(name, inherited=False), name)  # type: ignore[misc]
        layers.append((_describe_scope(name), {} if own is None else _listed_members(own)))
    sources = {}
    for member, value in effective.items():
        sources[member] = next((name for name, own in layers if own.get(member) == value), _DEFAULT_SOURCE)
    level, nearest = effective.get(_LEVEL), layers[0][1]
    if len(layers) > 1 and nearest.get(_LEVEL) == level and (nearest.keys() > {_LEVEL} or not _tells_own(registry)):
        # The server adds the level in force to a config without one, so it may be inherited.
        inherited = registry.config(_scope_chain(scope)[1]).level
        if inherited == level:
            sources[_LEVEL] = f"{layers[0][0]} or inherited"
    if sources.get(_LEVEL) == _describe_scope(None):  # the server adds its default there
        sources[_LEVEL] = f"{_describe_scope(None)} or {_DEFAULT_SOURCE}"
    return sources


def _tells_own(registry: Registry) -> bool:
    """Return whether the server distinguishes own from inherited settings: a made-up subject has none."""
    try:
        registry.mode(f"contractlog-{uuid4()}", inherited=False)
    except RegistryError:
        return True
    return False


def _scope_chain(scope: str | None) -> tuple[str | None, ...]:
    """Return the scopes that a setting may come from, nearest first; None is the global one."""
    if scope is None or scope == _GLOBAL_SCOPE:
        return (scope,) if scope else (None, _GLOBAL_SCOPE)
    subject = Subject.parse(scope)
    context = None if subject.context == DEFAULT_CONTEXT else f":{subject.context}:"
    return tuple(dict.fromkeys((scope, context, _GLOBAL_SCOPE, None)))


def _describe_scope(scope: str | None) -> str:
    if scope is None:
        return "global"
    if scope == _GLOBAL_SCOPE:
        return "every context"
    subject = Subject.parse(scope)
    return "subject" if subject.name else f"context {subject.context}"


def _read_own(read: Callable[[], T], scope: str | None) -> T | None:
    try:
        return read()
    except NotFound:  # nothing is set, or the server does not have this scope
        return None
    except Forbidden:
        print_message(f"no permission to read the settings of {_describe_scope(scope)}: some may come from there")
        return None


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
        _report_change(options, "config", changed, f"set {description}")
    if not ignored:
        return exit_codes.CLEAN
    names = ", ".join(settings[member] for member in ignored)
    raise UsageError(f"this registry ignored what it does not have: {names}")


def _find_ignored(registry: Registry, scope: str | None, changed: dict[str, Any]) -> list[str]:
    """Return the members that were set and are not in force."""
    if not changed.keys() - {_LEVEL}:  # every registry has levels
        return []
    effective = _read_own(lambda: _listed_members(registry.config(scope)), scope)
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
        return _report_change(options, "config", dict.fromkeys(names), f"unset {', '.join(names)}")
    try:
        require_supported(registry, lambda: registry.delete_config(options.subject), "cannot unset a config")
    except NotFound:
        return _report_change(options, "config", {}, "")
    return _report_change(options, "config", dict.fromkeys(_SETTINGS), "unset the whole config")


def _get_mode(registry: Registry, options: Namespace) -> int:
    scope = options.subject
    effective = require_supported(registry, lambda: registry.mode(scope), "has no modes")
    source = _DEFAULT_SOURCE
    chain = _scope_chain(scope)
    for name in chain:
        if _read_own(lambda name=name: registry.mode(name, inherited=False), name) == effective:  # type: ignore[misc]
            source = _describe_scope(name)
            break
    if scope is not None and source == _describe_scope(scope) and len(chain) > 1 and not _tells_own(registry):
        inherited = _read_own(lambda: registry.mode(chain[1]), chain[1]) == effective
        source = f"{source} or inherited" if inherited else source
    if source == _describe_scope(None) and effective is Mode.READWRITE:
        source = f"{source} or {_DEFAULT_SOURCE}"
    if options.format == "json":
        print_json({"format": MODE_FORMAT, "subject": scope, "mode": effective.value, "source": source})
    else:
        print_table(("MODE", "FROM"), [(effective.value, source)])
    return exit_codes.CLEAN


def _set_mode(registry: Registry, options: Namespace) -> int:
    operation = partial(registry.set_mode, options.mode, options.subject, force=options.force)
    changed = require_supported(registry, operation, "has no modes")
    return _report_change(options, "mode", {"mode": changed.value}, f"set mode {changed.value}")


def _unset_mode(registry: Registry, options: Namespace) -> int:
    try:
        require_supported(registry, lambda: registry.delete_mode(options.subject), "cannot unset a mode")
    except NotFound:
        return _report_change(options, "mode", {}, "")
    return _report_change(options, "mode", {"mode": None}, "unset the mode")


def _report_change(options: Namespace, resource: str, changed: dict[str, Any], description: str) -> int:
    """Print what was set or unset: its members, and a description of them."""
    if options.format == "json":
        form = CONFIG_FORMAT if resource == "config" else MODE_FORMAT
        print_json({"format": form, "subject": options.subject, "action": options.action, "changed": changed})
        return exit_codes.CLEAN
    name = "global" if options.subject is None else f"`{options.subject}`"
    if changed:
        print_result(f"{name}: {description}")
    else:
        print_message(f"{name}: no {resource} of its own, nothing to unset")
    scope = [] if options.subject is None else [options.subject]
    print_message(f"in force now: {registry_command(f'{resource} get', *scope)}")
    return exit_codes.CLEAN


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _policy_body(policy: Policy) -> dict[str, str | None]:
    if policy is Policy.EXACT:
        return {"contractlogPolicy": policy.value}
    return {"compatibilityPolicy": policy.value, "contractlogPolicy": None}


def _parse_scope(text: str) -> str:
    if not text:
        raise ArgumentTypeError("a subject is not empty: leave it out for the global one")
    return text


def _parse_flag(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ArgumentTypeError(f"`{text}` is neither `true` nor `false`")
    return text.lower() == "true"


def _parse_name(text: str) -> str:
    if not text:
        raise ArgumentTypeError("an empty name: `config unset --setting NAME` removes one")
    return text


def _parse_policy(text: str) -> Policy:
    try:
        return Policy(text.upper())
    except ValueError:
        raise ArgumentTypeError(f"`{text}` is not one of {', '.join(Policy)}") from None


def _parse_mode(text: str) -> Mode:
    try:
        return Mode.parse(text)
    except InvalidMode:
        raise ArgumentTypeError(f"`{text}` is not one of {', '.join(Mode)}") from None


_VALUES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "level": ("LEVEL", parse_level),
    "alias": ("SUBJECT", _parse_name),
    "group": ("PROPERTY", _parse_name),
    "policy": ("POLICY", _parse_policy),
}
