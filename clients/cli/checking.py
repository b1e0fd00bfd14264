"""What ``contractlog check`` does once its arguments are known."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.examine import Examined, SubjectGate, understand
from contractlog.clients.cli.files import SchemaFile, collect
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import count, harmless, result, result_json, say
from contractlog.clients.cli.render import details, verdict_line
from contractlog.clients.client import Registry
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["run", "understand_all"]

FORMAT: Final = "contractlog.check/1"


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Judge every file, print what came of it, return the exit code."""
    groups = collect(options.files, subject=options.subject, references=options.references)
    done: list[Examined] = []
    with connect(options) as registry:
        understood = understand_all(groups, registry)
        for subject, files in understood.items():
            gate = SubjectGate(registry, subject, options.normalize)
            for file, parsed in files:
                done.append(gate.examine(file, parsed))
                if options.format == "text":
                    _print(done[-1])
    refused = [examined for examined in done if examined.outcome == "incompatible"]
    if options.format == "json":
        result_json({"format": FORMAT, "compatible": not refused, "files": [examined.body() for examined in done]})
    else:
        _conclude(done, refused, argv)
    return exit_codes.FINDINGS if refused else exit_codes.CLEAN


def understand_all(
    groups: dict[str, list[SchemaFile]], registry: Registry
) -> dict[str, list[tuple[SchemaFile, ParsedSchema]]]:
    """Parse all files of all subjects, so that nothing is asked or written before each of them is a schema.

    Raises:
        UsageError: some are not; each has been named on stderr.
    """
    understood: dict[str, list[tuple[SchemaFile, ParsedSchema]]] = {subject: [] for subject in groups}
    problems: list[str] = []
    for subject, files in groups.items():
        for file in files:
            try:
                understood[subject].append((file, understand(file, registry)))
            except UsageError as error:
                problems.append(str(error))
    if len(problems) == 1:
        raise UsageError(problems[0])
    if problems:
        raise UsageError(f"{count(len(problems), 'file')} cannot be read as schemas:\n" + "\n".join(problems))
    return understood


def _print(examined: Examined) -> None:
    result(verdict_line(examined))
    for line in details(examined):
        result(line)


def _conclude(done: list[Examined], refused: list[Examined], argv: Sequence[str]) -> None:
    new = sum(examined.outcome == "compatible" for examined in done)
    if refused:
        say(
            f"{len(refused)} of {count(len(done), 'file')} may not be registered: mend the places above and check again"
        )
    elif new:
        say(f"{count(new, 'file')} may be registered: contractlog register {harmless(shlex.join(_public(argv)))}")
    else:
        say("nothing to register: the registry has all of it")


def _public(argv: Sequence[str]) -> Iterator[str]:
    """Yield the arguments without the registry's URL: it may hold a password, and this text ends up in logs."""
    before = ""
    for argument in argv:
        if "--registry" not in (before, argument.partition("=")[0]):
            yield argument
        before = argument
