"""Scopes of settings: a subject, a context, every context, or the whole registry.

``config`` and ``mode`` share their arguments, the chain of scopes that a value is inherited along, and their output.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final, TypeVar
from uuid import uuid4

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import (
    add_break_glass,
    add_environment,
    add_format,
    add_output,
    add_registry,
    select_context,
)
from contractlog.clients.cli.output import print_json, print_message, print_result
from contractlog.clients.cli.registry_lookups import fetch_if_supported
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.cli.verb_parser import add_action_parser
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import Forbidden, NotFound, RegistryError
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Subject, qualify_subject

__all__ = [
    "CONFIG_FORMAT",
    "DEFAULT_SOURCE",
    "MODE_FORMAT",
    "add_action",
    "describe_scope",
    "describe_source",
    "distinguishes_inherited",
    "fetch_sources",
    "find_deciding_scope",
    "list_scopes",
    "read_own_setting",
    "read_own_settings",
    "report_change",
    "select_scope",
]

CONFIG_FORMAT: Final = "contractlog.config/1"
MODE_FORMAT: Final = "contractlog.mode/1"
DEFAULT_SOURCE: Final = "the server's default"
_GLOBAL_SETTINGS: Final = f":{DEFAULT_CONTEXT}:"
_GLOBAL_SCOPE: Final = f":{GLOBAL_CONTEXT}:"

T = TypeVar("T")


def select_scope(options: Namespace) -> None:
    """Qualify the subject with the context of the environment, which is the scope without a subject."""
    context = select_context(options)
    if options.subject is not None or context:
        options.subject = qualify_subject(options.subject or "", context)


def add_action(actions: Any, name: str, summary: str, example: str) -> ArgumentParser:
    """Add an action, such as ``config get``, with its scope and the common options."""
    parser = add_action_parser(actions, name, summary, example)
    parser.add_argument(
        "subject",
        nargs="?",
        type=_parse_scope,
        metavar="SUBJECT|:.CONTEXT:",
        help=f"a subject, a context, or {_GLOBAL_SCOPE} for every context (default: the context of the "
        "environment, else the global one)",
    )
    add_environment(parser)
    add_break_glass(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    return parser


def list_scopes(scope: str | None) -> tuple[str | None, ...]:
    """Return the scopes that a setting may come from, nearest first; None is the global one."""
    if scope is None or scope in {_GLOBAL_SETTINGS, _GLOBAL_SCOPE}:
        return (scope,) if scope == _GLOBAL_SCOPE else (None, _GLOBAL_SCOPE)
    subject = Subject.parse(scope)
    context = None if subject.context == DEFAULT_CONTEXT else f":{subject.context}:"
    return tuple(dict.fromkeys((scope, context, _GLOBAL_SCOPE, None)))


def describe_scope(scope: str | None) -> str:
    """Return the kind of a scope: ``subject``, ``context .eu``, ``every context`` or ``global``."""
    if scope is None or scope == _GLOBAL_SETTINGS:
        return "global"
    if scope == _GLOBAL_SCOPE:
        return "every context"
    subject = Subject.parse(scope)
    return "subject" if subject.name else f"context {subject.context}"


def describe_source(source: str | None) -> str:
    """Return the kind of the scope that a setting is from; None is the server's default."""
    return DEFAULT_SOURCE if source is None else describe_scope(source)


def fetch_sources(registry: Registry, scope: str | None) -> dict[str, str | None] | None:
    """Return the scope of each setting in force by its name; None if the registry does not show it."""
    try:
        settings = fetch_if_supported(lambda: registry.effective_settings(scope or _GLOBAL_SETTINGS))
    except Forbidden:  # of the global settings, for callers who may read some subjects only
        return None
    return None if settings is None else settings["sources"]


def read_own_setting(read: Callable[[], T], scope: str | None) -> T | None:
    """Return what is set for a scope itself; None if nothing is, or the caller may not read it."""
    try:
        return read()
    except NotFound:  # nothing is set, or the server does not have this scope
        return None
    except Forbidden:
        print_message(f"no permission to read the settings of {describe_scope(scope)}: some may come from there")
        return None


def read_own_settings(scope: str | None, read: Callable[[str | None], T]) -> Iterator[tuple[str, T | None]]:
    """Yield each scope that a setting may come from, nearest first, with what is set for it itself."""
    for name in list_scopes(scope):
        yield describe_scope(name), read_own_setting(partial(read, name), name)


def find_deciding_scope(own_values: Iterable[tuple[str, object]], value: object) -> str:
    """Return the nearest scope whose own value is the one in force, or the server's default."""
    return next((name for name, own in own_values if own == value), DEFAULT_SOURCE)


def distinguishes_inherited(registry: Registry) -> bool:
    """Return whether the server distinguishes own from inherited settings: a made-up subject has none."""
    try:
        registry.mode(f"contractlog-{uuid4()}", inherited=False)
    except RegistryError:
        return True
    return False


def report_change(options: Namespace, resource: str, changed: dict[str, Any], description: str) -> int:
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


def _parse_scope(text: str) -> str:
    if not text:
        raise ArgumentTypeError("a subject is not empty: leave it out for the global one")
    return text
