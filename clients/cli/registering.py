"""Implementation of ``contractlog register``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.checking import understand_all
from contractlog.clients.cli.examine import Examined, SubjectGate
from contractlog.clients.cli.files import SchemaFile, Unreadable, collect, named_subject
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import Tone, count, harmless, result, result_json, say, toned
from contractlog.clients.cli.render import details, verdict_line
from contractlog.clients.client import Registry
from contractlog.compatibility.errors import (
    IncompatibleSchema,
    InvalidSchema,
    PayloadTooLarge,
    SchemaNotFound,
    SchemaTooLarge,
    SubjectNotFound,
    UsageError,
)
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema

__all__ = ["run"]

FORMAT: Final = "contractlog.register/1"

Outcome = Literal["registered", "unchanged", "refused", "skipped", "would register"]


@dataclass(frozen=True, slots=True)
class Done:
    """Outcome of the registration of a file."""

    file: SchemaFile
    outcome: Outcome
    schema: RegisteredSchema | None = None
    examined: Examined | None = None  #: the check, with the reason if it was refused
    reason: str = ""  #: reason if it was skipped

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        schema = self.schema
        return {
            "file": str(self.file.path),
            "subject": self.file.subject,
            "outcome": self.outcome,
            "version": None if schema is None else schema.version,
            "schema_id": None if schema is None else schema.schema_id,
            "refusal": None if self.examined is None or self.outcome != "refused" else self.examined.body(),
        }


def run(options: Namespace) -> int:
    """Register the files, print the outcomes, and return the exit code."""
    unreadable = Unreadable()
    groups = collect(options.files, subject=options.subject, references=options.references, unreadable=unreadable)
    done: list[Done] = []
    try:
        with connect(options) as registry:
            understood = understand_all(groups, registry, unreadable)
            if not options.keep_going:
                unreadable.refuse("nothing was registered")
            for step in _steps(registry, understood, options, unreadable):
                done.append(step)
                if options.format == "text":
                    _print(step)
    finally:
        if options.format == "json":
            result_json({"format": FORMAT, "dry_run": options.dry_run, "files": [step.body() for step in done]})
    refused = [step for step in done if step.outcome == "refused"]
    if options.format == "text" and done:
        _conclude(done, refused)
    unreadable.refuse()
    if not refused:
        return exit_codes.CLEAN
    return exit_codes.REFUSED if _unpermitted(refused) else exit_codes.FINDINGS


def _steps(
    registry: Registry,
    understood: dict[str, list[tuple[SchemaFile, ParsedSchema]]],
    options: Namespace,
    unreadable: Unreadable,
) -> Iterator[Done]:
    """Register the subjects whose files are all readable; skip the files of the others."""
    broken = {options.subject or named_subject(path) for path, _ in unreadable.problems}
    whole = {subject: files for subject, files in understood.items() if subject not in broken}
    for subject in filter(broken.__contains__, understood):
        for file, _ in understood[subject]:
            yield Done(file, "skipped", reason=f"because another file of `{subject}` cannot be read as a schema")
    yield from _all(registry, whole, options)


def _all(
    registry: Registry, understood: dict[str, list[tuple[SchemaFile, ParsedSchema]]], options: Namespace
) -> Iterator[Done]:
    if options.dry_run or not options.keep_going:
        planned = list(_planned(registry, understood, options))
        refused = any(step.outcome == "refused" for step in planned)
        if options.dry_run or refused:
            for step in planned:
                withheld = step.outcome == "would register" and not options.dry_run
                yield replace(step, outcome="skipped", reason="because other files cannot be") if withheld else step
            return
    for subject, files in understood.items():
        if options.level:
            registry.set_level(options.level, subject)
        stopped = False
        for file, parsed in files:
            step = _skipped(file) if stopped else _registered(registry, file, parsed, options)
            stopped = stopped or step.outcome == "refused"
            yield step


def _planned(
    registry: Registry, understood: dict[str, list[tuple[SchemaFile, ParsedSchema]]], options: Namespace
) -> Iterator[Done]:
    """Check every file without registering any."""
    for subject, files in understood.items():
        gate = SubjectGate(registry, subject, options.normalize, options.level)
        stopped = False
        for file, parsed in files:
            if stopped:
                yield _skipped(file)
                continue
            examined = gate.examine(file, parsed)
            stopped = examined.outcome in {"incompatible", "refused"}
            if examined.registered is not None:
                yield Done(file, "unchanged", examined.registered)
            else:
                yield Done(file, "refused" if stopped else "would register", examined=examined)


def _skipped(file: SchemaFile) -> Done:
    return Done(file, "skipped", reason=f"because an earlier version of `{file.subject}` was refused")


def _registered(registry: Registry, file: SchemaFile, parsed: ParsedSchema, options: Namespace) -> Done:
    try:
        existing = _lookup(registry, file, options)
        if existing is not None:
            return Done(file, "unchanged", existing)
        return Done(file, "registered", registry.register(file.subject, file.draft, normalize=options.normalize))
    except (InvalidSchema, PayloadTooLarge, SchemaTooLarge) as error:
        raise UsageError(f"{file.path}: rejected by the registry: {error}") from None
    except IncompatibleSchema as error:
        fresh = SubjectGate(registry, file.subject, options.normalize)
        return Done(file, "refused", examined=_explained(fresh.examine(file, parsed), error))


def _lookup(registry: Registry, file: SchemaFile, options: Namespace) -> RegisteredSchema | None:
    try:
        return registry.lookup(file.subject, file.draft, normalize=options.normalize)
    except (SubjectNotFound, SchemaNotFound):
        return None


def _explained(examined: Examined, error: IncompatibleSchema) -> Examined:
    if examined.outcome == "incompatible":
        return examined
    return Examined(examined.file, "incompatible", examined.level, messages=(str(error),), compared=examined.compared)


def _print(step: Done) -> None:
    if step.examined is not None and step.outcome == "refused":
        result(verdict_line(step.examined))
        for line in details(step.examined):
            result(line)
        return
    tone = Tone.GOOD if step.outcome in {"registered", "would register"} else Tone.PLAIN
    result(toned(tone, harmless(f"{step.file.path}: {_words(step)}")))


def _words(step: Done) -> str:
    subject = f"`{step.file.subject}`"
    if step.outcome == "would register":
        return f"would be a new version of {subject}"
    if step.outcome == "skipped" or step.schema is None:
        return f"not registered, {step.reason}"
    version = "a new version" if step.schema.version is None else f"version {step.schema.version}"
    state = "registered as" if step.outcome == "registered" else "registered already as"
    return f"{state} {version} of {subject}, id {step.schema.schema_id}"


def _conclude(done: list[Done], refused: list[Done]) -> None:
    new = sum(step.outcome == "registered" for step in done)
    unchanged = sum(step.outcome == "unchanged" for step in done)
    planned = sum(step.outcome == "would register" for step in done)
    told = [
        f"{count(new, 'file')} registered" if new else "",
        f"{count(planned, 'file')} would be registered" if planned else "",
        f"{unchanged:,} registered already" if unchanged else "",
        f"{len(refused):,} refused" if refused else "",
    ]
    if refused and not (new or planned):
        told.append("nothing was registered" if not unchanged else "nothing new was registered")
    after = ""
    if refused:
        after = (
            "; ask an operator of the registry"
            if _unpermitted(refused)
            else "; fix the findings above and register again"
        )
    say((", ".join(filter(None, told)) or "nothing was registered") + after)


def _unpermitted(refused: list[Done]) -> bool:
    """Return whether all refusals are due to permissions or modes."""
    return all(step.examined is not None and step.examined.outcome == "refused" for step in refused)
