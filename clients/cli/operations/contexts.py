"""``contractlog contexts``: the contexts of a registry."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    connect,
    select_context,
)
from contractlog.clients.cli.output import (
    apply_output_options,
    count_noun,
    print_json,
    print_message,
    print_result,
)
from contractlog.clients.cli.registry_lookups import (
    add_limit,
    fetch_if_supported,
    require_registry,
)
from contractlog.clients.cli.suggested_commands import registry_command

__all__ = ["contexts"]

CONTEXTS_FORMAT: Final = "contractlog.contexts/1"
_MAX_CONTEXTS: Final = 10_000  #: default of `contexts --limit`


def contexts(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """List the contexts of a registry."""
    add_limit(parser, _MAX_CONTEXTS, "maximum number of contexts")
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_args(argv)
    with apply_output_options(options):
        return _run_contexts(options)


def _run_contexts(options: Namespace) -> int:
    select_context(options)
    with connect(options) as registry:
        names = fetch_if_supported(registry.contexts)
        if names is None:
            require_registry(registry)
    if names is None:
        print_message("this registry has no contexts: they exist since release 7.0 of Confluent Schema Registry")
    names = [name.strip(":") for name in names or ()]  # some registries list `:.eu:`
    listed = names[: options.limit]
    if options.format == "json":
        truncated = len(listed) < len(names)
        print_json({"format": CONTEXTS_FORMAT, "contexts": listed, "truncated": truncated})
        return exit_codes.CLEAN
    for name in listed:
        print_result(name)
    if listed:
        more = len(names) - len(listed)
        command = registry_command("subjects", context=listed[-1])
        print_message(
            f"{count_noun(more, 'more context')} not listed: pass --limit"
            if more
            else f"{count_noun(len(listed), 'context')}; list subjects: {command}"
        )
    return exit_codes.CLEAN
