"""``contractlog show``: a registered schema on stdout, its facts on stderr."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from contractlog.clients.calls.schemas import by_id
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import (
    add_environment,
    add_format,
    add_output,
    add_registry,
    connect,
    select_context,
)
from contractlog.clients.cli.output import apply_output_options, print_json, print_json_line, print_message
from contractlog.clients.cli.pull.pulled_text import format_text
from contractlog.clients.cli.registry_lookups import (
    fetch_if_supported,
    list_live,
    missing_versions_error,
    parse_subject_version,
    qualify_context,
    version_body,
)
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import NotFound, SubjectNotFound, UsageError, VersionNotFound
from contractlog.compatibility.identifiers import MAX_ID, qualify_subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.time_text import describe_time

__all__ = ["show"]

FORMAT: Final = "contractlog.show/1"
_MAX_LISTED: Final = 20  #: most versions of an id that are listed as text


def show(parser: ArgumentParser, argv: Sequence[str]) -> int:
    """Print a schema by subject and version, or by id."""
    parser.add_argument(
        "name",
        nargs="?",
        metavar="SUBJECT[:VERSION]",
        help="the version, with a number or `latest`; by default the latest",
    )
    parser.add_argument("--id", type=_parse_id, metavar="N", help="the schema with this id, instead")
    parser.add_argument("--context", metavar="CONTEXT", help="the context of the id, such as .eu")
    parser.add_argument("--raw", action="store_true", help="print the text byte for byte as it is stored")
    add_environment(parser)
    add_registry(parser)
    add_format(parser)
    add_output(parser, kept="results and errors")
    options = parser.parse_intermixed_args(argv)
    if (options.name is None) == (options.id is None):
        raise UsageError("name a version, as SUBJECT or SUBJECT:VERSION, or pass --id N")
    if options.context is not None and options.id is None:
        raise UsageError("--context belongs to --id: write the context of a subject before it, as `:.eu:orders-value`")
    with apply_output_options(options):
        return _run(options)


def _run(options: Namespace) -> int:
    options.environment_context = select_context(options)
    with connect(options) as registry:
        schema, uses = _fetch_by_id(registry, options) if options.name is None else _fetch_version(registry, options)
    if options.format == "json":
        print_json(_json_body(schema, uses))
        return exit_codes.CLEAN
    for line in _fact_lines(schema, uses):
        print_message(line)
    _print_text(schema, raw=options.raw)
    return exit_codes.CLEAN


def _fetch_version(registry: Registry, options: Namespace) -> tuple[RegisteredSchema, list[tuple[str, int]]]:
    name, version = parse_subject_version(options.name)
    subject = qualify_subject(name, options.environment_context)
    try:
        schema = registry.version(subject, version or "latest", deleted=version is not None)
    except SubjectNotFound as error:
        raise missing_versions_error(registry, subject, error) from None
    except VersionNotFound as error:
        error.facts["details"] = [f"to list its versions: {registry_command('versions', subject)}"]
        raise
    if schema.timestamp is None and schema.version not in list_live(
        registry, str(schema.subject or subject)
    ):  # before release 8
        schema = replace(schema, deleted=True)
    return schema, [(str(schema.subject or subject), int(schema.version or 0))]


def _fetch_by_id(registry: Registry, options: Namespace) -> tuple[RegisteredSchema, list[tuple[str, int]]]:
    """Return the schema with an id, and the versions that have it, as far as the server tells them."""
    context = options.context or options.environment_context
    scope = qualify_context(context) if context else None
    schema = registry.send(by_id(options.id, subject=scope))
    try:
        uses = fetch_if_supported(lambda: registry.versions_of_id(options.id, subject=scope, deleted=True))
    except NotFound:  # in between deleted, or none that the caller may read
        uses = None
    return schema, uses or []


def _json_body(schema: RegisteredSchema, uses: list[tuple[str, int]]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        **version_body(schema, uses[0][0] if uses else None),
        "versions": [{"subject": subject, "version": version} for subject, version in uses],
        "references": [reference.body() for reference in schema.references],
        "metadata": None if schema.metadata is None else schema.metadata.body(),
        "rule_set": None if schema.rule_set is None else schema.rule_set.body(),
        "schema": schema.text,
    }


def _fact_lines(schema: RegisteredSchema, uses: list[tuple[str, int]]) -> Iterator[str]:
    facts = [f"id {schema.schema_id}", schema.type.value]
    facts += [f"guid {schema.guid}"] if schema.guid else []
    facts += [f"registered {time}"] if (time := describe_time(schema.timestamp)) else []
    facts += ["soft-deleted"] if schema.deleted else []
    name = f"version {uses[0][1]} of `{uses[0][0]}`, " if uses else ""
    yield f"{name}{', '.join(facts)}"
    for subject, version in uses[1:_MAX_LISTED]:
        yield f"    also version {version} of `{subject}`"
    if len(uses) > _MAX_LISTED:
        yield f"    … and {len(uses) - _MAX_LISTED:,} more versions with this id"
    for reference in schema.references:
        yield f"    depends on `{reference.name}`: version {reference.version} of `{reference.subject}`"
    if schema.metadata is not None:
        for name, value in sorted(schema.metadata.properties.items()):
            yield f"    {name}: {'(sensitive)' if name in schema.metadata.sensitive else value}"
    if schema.rule_set is not None:
        yield "    has rules: `--format json` shows them"


def _print_text(schema: RegisteredSchema, *, raw: bool) -> None:
    if raw and not sys.stdout.isatty():
        sys.stdout.flush()
        sys.stdout.buffer.write(schema.text.encode("utf-8", "surrogatepass"))  # whatever the encoding of the terminal
        return
    text = schema.text if raw else format_text(schema)
    for line in text.removesuffix("\n").split("\n"):
        print_json_line(line.removesuffix("\r"))


def _parse_id(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text[:10]) <= MAX_ID and len(text) <= len(str(MAX_ID)):
        return int(text)
    raise ArgumentTypeError(f"`{text}` is not a schema id, a number from 0 to {MAX_ID:,}")
