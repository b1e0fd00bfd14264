"""Implementation of ``contractlog plan`` and ``apply``."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import connect, format_reference, parse_reference
from contractlog.clients.cli.output import (
    Tone,
    continue_without_reader,
    count_noun,
    print_json,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.plan.registration import (
    FileRegistration,
    Registration,
    all_unpermitted,
    print_step,
    report_interruption,
)
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.command_files import read_files
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.registry import Registry
from contractlog.clients.settings import URL_VARIABLES, RegistryAddress, registry_url
from contractlog.compatibility.errors import SubjectNotFound, UsageError
from contractlog.compatibility.level import Level
from contractlog.compatibility.terminal_text import escape_line

__all__ = ["run_apply", "run_plan"]

PLAN_FORMAT: Final = "contractlog.plan/1"
APPLY_FORMAT: Final = "contractlog.apply/1"


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A compatibility level that the manifest sets."""

    subject: str
    before: Level
    after: Level


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that the registry needs to match the files."""

    levels: tuple[LevelChange, ...]
    registrations: tuple[FileRegistration, ...]
    latest: dict[str, int]  #: subject -> number of its latest version; 0 if there is none

    @property
    def refused(self) -> list[FileRegistration]:
        """Files that cannot be registered."""
        return [each for each in self.registrations if each.outcome == "refused"]

    @property
    def is_empty(self) -> bool:
        """True if nothing would change."""
        return not self.levels and all(each.outcome == "unchanged" for each in self.registrations)

    def steps(self) -> list[dict[str, Any]]:
        """Return the changes as JSON objects; equal if neither the registry nor the files have changed."""
        levels = [
            {"action": "set level", "subject": change.subject, "from": change.before, "to": change.after}
            for change in self.levels
        ]
        registrations = [
            {
                "action": "register",
                "subject": each.file.subject,
                "after_version": self.latest[each.file.subject],
                "file": str(each.file.path),
                "sha256": _digest(each.file),
                "references": each.file.reference_bodies(),
            }
            for each in self.registrations
            if each.outcome == "would register"
        ]
        return [*levels, *registrations]

    def drift(self) -> Iterator[tuple[str, int, int]]:
        """Yield drifted subjects: the subject, the version of its file, and the latest version."""
        newest: dict[str, int] = {}
        for each in self.registrations:
            known = 0 if each.schema is None else each.schema.version or 0
            newest[each.file.subject] = max(newest.get(each.file.subject, 0), known)
        registering = {each.file.subject for each in self.registrations if each.outcome != "unchanged"}
        for subject, version in newest.items():
            if subject not in registering and version < self.latest[subject]:
                yield subject, version, self.latest[subject]


def run_plan(options: Namespace) -> int:
    """Print what would change, and return the exit code."""
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    with connect(options) as registry:
        _, plan = _make_plan(options, registry, files, unreadable)
    unreadable.raise_errors()
    if options.out is not None:
        _write_plan(options, plan)
    _print_plan(options, plan)
    if plan.refused:
        return _refusal_code(plan.refused)
    differs = not plan.is_empty or any(plan.drift())
    return exit_codes.FINDINGS if options.exit_code and differs else exit_codes.CLEAN


def run_apply(options: Namespace) -> int:
    """Make the changes of a plan, and return the exit code."""
    saved = None if options.plan is None else _read_plan(options)
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    with connect(options) as registry:
        registration, plan = _make_plan(options, registry, files, unreadable)
        unreadable.raise_errors("nothing was applied")
        if plan.refused:
            _print_plan(options, plan)
            print_message("nothing was applied")
            return _refusal_code(plan.refused)
        if saved is not None and not _is_rest_of(saved, plan, options):
            print_message("nothing was applied: the registry or the files have changed since the plan; plan again")
            return exit_codes.FINDINGS
        return _apply(options, registry, registration, plan, files)


def _is_rest_of(saved: Sequence[Any], plan: Plan, options: Namespace) -> bool:
    """Return whether the steps that are left are those of a saved plan, of which some may be done already."""
    left = {_step_key(step): step for step in plan.steps()}
    registered = {(each.file.subject, _digest(each.file)) for each in plan.registrations if each.outcome == "unchanged"}
    done_versions: Counter[str] = Counter()
    for step in saved:
        current = left.pop(_step_key(step), None)
        subject = step["subject"]
        if step["action"] == "set level":
            wanted = options.manifest and options.manifest.find_level(subject)
            if (current != step) if current is not None else wanted != step["to"]:
                return False
        elif current is None:
            if (subject, step["sha256"]) not in registered:
                return False
            done_versions[subject] += 1
        elif current["after_version"] != step["after_version"] + done_versions[subject]:
            return False
    return not left


def _step_key(step: Mapping[str, Any]) -> tuple[str, ...]:
    return step["action"], step["subject"], str(step.get("file", "")), str(step.get("sha256", ""))


def _digest(file: SchemaFile) -> str:
    return sha256(file.draft.text.encode("utf-8", "surrogatepass")).hexdigest()


def _apply(
    options: Namespace, registry: Registry, registration: Registration, plan: Plan, files: list[SchemaFile]
) -> int:
    done: list[FileRegistration] = []
    try:
        for change in plan.levels:
            registry.set_level(change.after, change.subject)
            if options.format == "text":
                with continue_without_reader():
                    print_result(with_tone(Tone.GOOD, escape_line(_describe_level(change))))
        for step in registration.register_planned(files):
            done.append(step)
            if options.format == "text" and step.outcome != "unchanged":
                with continue_without_reader():
                    print_step(step)
    except BaseException:
        report_interruption(done, len(files))
        raise
    finally:
        if options.format == "json":
            levels = [{"subject": change.subject, "level": change.after} for change in plan.levels]
            print_json({"format": APPLY_FORMAT, "levels": levels, "files": [step.body() for step in done]})
    refused = [step for step in done if step.outcome == "refused"]
    new = sum(step.outcome == "registered" for step in done)
    print_message(f"{count_noun(new, 'version')} registered, {count_noun(len(plan.levels), 'level')} set")
    return _refusal_code(refused) if refused else exit_codes.CLEAN


def _make_plan(
    options: Namespace, registry: Registry, files: Sequence[SchemaFile], unreadable: UnreadableFiles
) -> tuple[Registration, Plan]:
    """Compare the files and the manifest's settings with the registry."""
    resolver = FileResolver(registry, options.normalize)
    resolved = {each.file.key: each for each in resolver.resolve_all(files, unreadable.collect)}
    subjects = dict.fromkeys(file.subject for file in files)
    levels = tuple(_find_level_changes(registry, options, subjects))
    planned_levels = {change.subject: change.after for change in levels}
    registration = Registration(registry, resolver, resolved, planned_levels, options.normalize)
    steps = registration.plan_all(file for file in files if file.key in resolved)
    return registration, Plan(
        levels, tuple(steps), {subject: _latest_version(registry, subject) for subject in subjects}
    )


def _find_level_changes(registry: Registry, options: Namespace, subjects: Iterable[str]) -> Iterator[LevelChange]:
    for subject in subjects if options.manifest is not None else ():
        wanted = options.manifest.find_level(subject)
        if wanted is not None:
            current = registry.level(subject)
            if current is not wanted:
                yield LevelChange(subject, current, wanted)


def _latest_version(registry: Registry, subject: str) -> int:
    try:
        return max(registry.versions(subject), default=0)
    except SubjectNotFound:
        return 0


def _write_plan(options: Namespace, plan: Plan) -> None:
    if plan.refused:
        options.out.unlink(missing_ok=True)  # an earlier plan must not be applied in its place
        print_message(f"{options.out} was not written: the plan cannot be applied")
        return
    arguments = {name: getattr(options, name) for name in ("files", "subject", "normalize", "environment")}
    arguments["manifest"] = None if options.manifest is None else str(options.manifest.path)
    arguments["references"] = [format_reference(each) for each in options.references]
    url = _without_credentials(registry_url(options.registry))
    body = {"format": PLAN_FORMAT, "registry": url, "arguments": arguments, "steps": plan.steps()}
    try:
        with open_atomically(options.out) as file:
            file.write((json.dumps(body, indent=2) + "\n").encode())
    except OSError as error:
        raise UsageError(f"`{options.out}` cannot be written: {error.strerror or error}") from None


def _read_plan(options: Namespace) -> Any:
    """Take the arguments from a saved plan, and return its steps.

    Raises:
        UsageError: it cannot be read, or other arguments are given besides.
    """
    if options.files or options.subject or options.references or options.manifest or options.environment:
        raise UsageError("a plan has its own files and settings: name only --plan and the registry")
    try:
        body = json.loads(options.plan.read_bytes())
    except OSError as error:
        raise UsageError(f"`{options.plan}` cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        body = None
    match body:
        case {
            "format": "contractlog.plan/1",
            "arguments": {
                "files": [*files],
                "subject": (str() | None) as subject,
                "normalize": bool() as normalize,
                "environment": (str() | None) as environment,
                "manifest": (str() | None) as manifest,
                "references": [*references],
            },
            "registry": str() as url,
            "steps": [*steps],
        } if all(map(_is_step, steps)):
            options.files, options.subject = list(map(str, files)), subject
            options.normalize, options.environment = normalize, environment
            _require_registry(options, url)
            options.manifest = None if manifest is None else Path(manifest)
            options.references = [parse_reference(str(each)) for each in references]
            return steps
    raise UsageError(f"`{options.plan}` is not a plan that `contractlog plan --out` wrote")


def _is_step(step: Any) -> bool:
    match step:
        case {"action": "set level", "subject": str(), "from": str(), "to": str()}:
            return True
        case {"action": "register", "subject": str(), "after_version": int(), "file": str(), "sha256": str()}:
            return True
    return False


def _require_registry(options: Namespace, planned: str) -> None:
    """Take the registry of a plan, and its credentials from the environment.

    Raises:
        UsageError: another registry was named.
    """
    variables = () if options.environment else URL_VARIABLES  # an environment of the manifest names its registry
    chosen = options.registry or next(filter(None, map(os.environ.get, variables)), planned)
    if _without_credentials(chosen) != planned:
        raise UsageError(f"the plan is for the registry {planned}, not for {_without_credentials(chosen)}: plan again")
    options.registry = chosen


def _without_credentials(url: str) -> str:
    return ",".join(address.url for address in RegistryAddress.parse(url))


def _print_plan(options: Namespace, plan: Plan) -> None:
    if options.format == "json":
        drift = [{"subject": subject, "file": file, "latest": latest} for subject, file, latest in plan.drift()]
        refused = [each.check.body() for each in plan.refused if each.check is not None]
        print_json({"format": PLAN_FORMAT, "steps": plan.steps(), "refused": refused, "drift": drift})
        return
    for change in plan.levels:
        print_result(with_tone(Tone.GOOD, escape_line(_describe_level(change))))
    for each in plan.registrations:
        if each.outcome != "unchanged":
            print_step(each)
    for subject, version, latest in plan.drift():
        text = f"`{subject}`: version {latest} of the registry is not in the files, which have version {version}"
        print_result(with_tone(Tone.PLAIN, escape_line(f"drift: {text}")))
    if plan.refused:
        print_message(f"{count_noun(len(plan.refused), 'file')} cannot be registered: fix the findings above")
    elif plan.is_empty:
        print_message("nothing to change" + ("; the registry has drifted from the files" if any(plan.drift()) else ""))
    else:
        new = sum(each.outcome == "would register" for each in plan.registrations)
        levels = count_noun(len(plan.levels), "level")
        print_message(f"{count_noun(new, 'version')} would be registered, {levels} would be set")


def _describe_level(change: LevelChange) -> str:
    return f"level of `{change.subject}`: {change.before} -> {change.after}"


def _refusal_code(refused: list[FileRegistration]) -> int:
    return exit_codes.REFUSED if all_unpermitted(refused) else exit_codes.FINDINGS
