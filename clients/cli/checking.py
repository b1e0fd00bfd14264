"""Implementation of ``contractlog check``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.examine import Examined, SubjectGate, understand
from contractlog.clients.cli.files import SchemaFile, Unreadable, collect
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import count, quoted, result, result_json, say
from contractlog.clients.cli.render import details, verdict_line
from contractlog.clients.client import Registry
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["run", "understand_all"]

FORMAT: Final = "contractlog.check/1"


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Check every file, print the outcomes, and return the exit code."""
    unreadable = Unreadable()
    groups = collect(options.files, subject=options.subject, references=options.references, unreadable=unreadable)
    done: list[Examined] = []
    with connect(options) as registry:
        understood = understand_all(groups, registry, unreadable)
        for subject, files in understood.items():
            gate = SubjectGate(registry, subject, options.normalize)
            for file, parsed in files:
                with unreadable.of(file.path):
                    done.append(gate.examine(file, parsed))
                    if options.format == "text":
                        _print(done[-1])
    incompatible = [examined for examined in done if examined.outcome == "incompatible"]
    refused = [examined for examined in done if examined.outcome == "refused"]
    if options.format == "json":
        result_json(_body(done, incompatible, unreadable))
    elif not unreadable.problems:
        _conclude(done, incompatible, refused, argv)
    unreadable.refuse()
    if incompatible:
        return exit_codes.FINDINGS
    return exit_codes.REFUSED if refused else exit_codes.CLEAN


def _body(done: list[Examined], incompatible: list[Examined], unreadable: Unreadable) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "compatible": not (incompatible or unreadable.problems),
        "permitted": all(examined.outcome != "refused" for examined in done),
        "files": [examined.body() for examined in done],
        "unreadable": [{"file": str(path), "reason": str(error)} for path, error in unreadable.problems],
    }


def understand_all(
    groups: dict[str, list[SchemaFile]], registry: Registry, unreadable: Unreadable
) -> dict[str, list[tuple[SchemaFile, ParsedSchema]]]:
    """Parse the files of all subjects, so that invalid schemas are found before anything is registered."""
    understood: dict[str, list[tuple[SchemaFile, ParsedSchema]]] = {subject: [] for subject in groups}
    for subject, files in groups.items():
        for file in files:
            with unreadable.of(file.path):
                understood[subject].append((file, understand(file, registry)))
    return understood


def _print(examined: Examined) -> None:
    result(verdict_line(examined))
    for line in details(examined):
        result(line)


def _conclude(done: list[Examined], incompatible: list[Examined], refused: list[Examined], argv: Sequence[str]) -> None:
    new = sum(examined.outcome == "compatible" for examined in done)
    if incompatible:
        files = count(len(done), "file")
        say(f"{len(incompatible):,} of {files} cannot be registered: fix the findings above and check again")
    elif refused:
        files = count(len(done), "file")
        say(f"{len(refused):,} of {files} cannot be registered by you now: ask an operator of the registry")
    elif new:
        words = " ".join(map(quoted, _public(argv)))
        say(f"{count(new, 'file')} can be registered: contractlog register {words}")
    else:
        say("nothing to register: every file is registered already")


def _public(argv: Sequence[str]) -> Iterator[str]:
    """Yield the arguments without the registry's URL, whose password would otherwise appear in logs."""
    before = ""
    for argument in argv:
        if "--registry" not in (before, argument.partition("=")[0]):
            yield argument
        before = argument
