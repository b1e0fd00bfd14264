"""``contractlog mode``: show, set and unset the mode of a subject, a context or the whole registry."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from functools import partial

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.operations.setting_scopes import (
    DEFAULT_SOURCE,
    MODE_FORMAT,
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
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import apply_output_options, print_json, print_table
from contractlog.clients.cli.registry_lookups import require_supported
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import InvalidMode, NotFound
from contractlog.compatibility.mode import Mode

__all__ = ["mode"]


def mode(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Show, set or unset the mode of a subject, a context or the registry."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add_action(actions, "mode get", "show the mode in force, and what it is inherited from", "orders-value")
    setter = add_action(actions, "mode set", "set the mode", "orders-value READONLY")
    setter.add_argument("mode", type=_parse_mode, metavar="MODE", help=", ".join(Mode))
    setter.add_argument("--force", action="store_true", help="set IMPORT even where live versions exist")
    add_action(actions, "mode unset", "unset the mode, so that it is inherited", "orders-value")
    options = parser.parse_args(argv)
    run = {"get": _get_mode, "set": _set_mode, "unset": _unset_mode}[options.action]
    with apply_output_options(options):
        select_scope(options)
        with connect(options) as registry:
            return run(registry, options)


def _get_mode(registry: Registry, options: Namespace) -> int:
    scope = options.subject
    effective = require_supported(registry, lambda: registry.mode(scope), "has no modes")
    fetched = fetch_sources(registry, scope)
    source = _find_source(registry, scope, effective) if fetched is None else describe_source(fetched.get("mode"))
    if options.format == "json":
        print_json({"format": MODE_FORMAT, "subject": scope, "mode": effective.value, "source": source})
    else:
        print_table(("MODE", "FROM"), [(effective.value, source)])
    return exit_codes.CLEAN


def _find_source(registry: Registry, scope: str | None, effective: Mode) -> str:
    """Return where the mode in force comes from, as far as the reference's API shows it."""
    source = find_deciding_scope(read_own_settings(scope, partial(registry.mode, inherited=False)), effective)
    chain = list_scopes(scope)
    if (
        scope is not None
        and source == describe_scope(scope)
        and len(chain) > 1
        and not distinguishes_inherited(registry)
    ):
        inherited = read_own_setting(lambda: registry.mode(chain[1]), chain[1]) == effective
        source = f"{source} or inherited" if inherited else source
    if source == describe_scope(None) and effective is Mode.READWRITE:
        source = f"{source} or {DEFAULT_SOURCE}"
    return source


def _set_mode(registry: Registry, options: Namespace) -> int:
    operation = partial(registry.set_mode, options.mode, options.subject, force=options.force)
    changed = require_supported(registry, operation, "has no modes")
    return report_change(options, "mode", {"mode": changed.value}, f"set mode {changed.value}")


def _unset_mode(registry: Registry, options: Namespace) -> int:
    try:
        require_supported(registry, lambda: registry.delete_mode(options.subject), "cannot unset a mode")
    except NotFound:
        return report_change(options, "mode", {}, "")
    return report_change(options, "mode", {"mode": None}, "unset the mode")


def _parse_mode(text: str) -> Mode:
    try:
        return Mode.parse(text)
    except InvalidMode:
        raise ArgumentTypeError(f"`{text}` is not one of {', '.join(Mode)}") from None
