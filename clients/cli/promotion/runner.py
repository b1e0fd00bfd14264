"""Implementation of ``contractlog promote``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, Final

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.associations.association_keys import describe_part
from contractlog.clients.cli.associations.comparison import compare_associations
from contractlog.clients.cli.associations.file_facts import FileFacts
from contractlog.clients.cli.credential_selection import list_urls, use_manifest_registry
from contractlog.clients.cli.error_messages import interruption_message
from contractlog.clients.cli.options import connect
from contractlog.clients.cli.output import (
    Tone,
    continue_without_reader,
    count_noun,
    print_message,
    print_result,
    with_tone,
)
from contractlog.clients.cli.promotion.connected_environment import ConnectedEnvironment
from contractlog.clients.cli.promotion.promoted_version import PromotedVersion
from contractlog.clients.cli.promotion.promotion_plan import Note, PromotionPlanner
from contractlog.clients.cli.promotion.registration import end_imports, register_missing
from contractlog.clients.cli.report_formats.promotion_report import promotion_report
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.schema_folder.argument_files import read_files
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.environment import resolve_environment
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Environment, Manifest
from contractlog.clients.cli.subject_settings import find_setting_changes
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import ContractlogError, Forbidden, NotFound, UsageError
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.text.terminal_text import add_flags, escape_line, quote_word, shell_command

__all__ = ["run"]

FORMAT: Final = "contractlog.promote/1"


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Show or register the versions that the target lacks, and return the exit code."""
    with reported_failures(options, "contractlog promote", argv):
        return _run(options, argv)


def _run(options: Namespace, argv: Sequence[str]) -> int:
    unreadable = UnreadableFiles()
    files = read_files(options, unreadable)
    unreadable.raise_errors("nothing was promoted")
    if options.manifest is None:
        raise UsageError(f"promote needs a manifest with environments: write {MANIFEST}, or pass --manifest")
    with ExitStack() as stack:
        source, target = _open_environments(options, options.manifest, stack)
        paths = {source.shared_name(Subject.parse(source.qualify(each.subject))): each.path for each in files}
        names = list(paths)
        promotion = PromotionPlanner(
            source, target, options.manifest, options.use_waivers, _list_modes(options.manifest, names)
        )
        try:
            promotion.plan(names)
        except ContractlogError as error:
            _name_environment(error, source, target)
            raise
        ended: list[tuple[str, Mode]] = []
        done: list[PromotedVersion] = []
        failure = ""
        applied = options.apply and not promotion.refusals
        try:
            for version in register_missing(promotion) if applied else ():
                done.append(version)
                if options.format == "text":
                    with continue_without_reader():
                        _print_version(promotion, version)
            ended = _end_imports(promotion, applied=applied)
            described = (
                *_describe_settings(target, options.manifest, names),
                *_describe_associations(target, options.manifest, names),
            )
            promotion.notes += [Note(None, text) for text in described]
        except BaseException as error:
            if isinstance(error, ContractlogError):
                _name_environment(error, source, target)
            if done:
                failure = interruption_message(error, argv)
                build = partial(promotion_report, promotion, done, failure=failure)
                output_report(options, partial(build, paths=paths, manifest=options.manifest.path))
                versions = count_noun(len(done), "version")
                print_message(f"{versions} registered in {target.name} before the error; run the command again")
            raise
        finally:
            body = _json_body(promotion, done if applied else promotion.missing, applied=applied)
            if failure:
                rest = [version.body() for version in promotion.missing[len(done) :]]
                body |= {"error": {"message": failure, "version": rest[0] if rest else None}, "not_reached": rest[1:]}
            output_json(options, body)
    listed = done if applied else promotion.missing
    output_report(options, partial(promotion_report, promotion, listed, paths=paths, manifest=options.manifest.path))
    if options.format == "text":
        _print_ended(promotion, ended)
        _print_rest(argv, promotion, done, applied=applied)
    return _exit_code(options, promotion, applied=applied)


def _name_environment(error: ContractlogError, *sides: ConnectedEnvironment) -> None:
    """Add the fact ``environment`` to the error of a registry: the side that has its URL."""
    for side in sides:
        if error.facts.get("url") in list_urls(side.registry.url):
            error.facts.setdefault("environment", side.name)


def _exit_code(options: Namespace, promotion: PromotionPlanner, *, applied: bool) -> int:
    if promotion.refusals:
        permitted = any(refusal.kind == "history" for refusal in promotion.refusals.values())
        return exit_codes.FINDINGS if permitted else exit_codes.REFUSED
    remains = (promotion.missing or promotion.left_in_import) and not applied
    return exit_codes.FINDINGS if options.exit_code and remains else exit_codes.CLEAN


def _end_imports(promotion: PromotionPlanner, *, applied: bool) -> list[tuple[str, Mode]]:
    """Set the modes of subjects left in mode IMPORT if all was registered; else note them."""
    if applied and not promotion.refusals:
        return list(end_imports(promotion))
    promotion.notes += [
        Note(
            subject,
            f"`{subject}` is in mode IMPORT in {promotion.target.name}: `--apply` sets {mode}, as in the manifest",
        )
        for subject, mode in promotion.left_in_import.items()
    ]
    return []


def _list_modes(manifest: Manifest, subjects: Iterable[str]) -> dict[str, Mode]:
    """Return the modes that the manifest sets, by subject."""
    modes = {subject: manifest.find_settings(subject).get("mode") for subject in subjects}
    return {subject: Mode(mode) for subject, mode in modes.items() if mode is not None}


def _describe_settings(target: ConnectedEnvironment, manifest: Manifest, subjects: Iterable[str]) -> Iterator[str]:
    """Yield a note if the target does not have the settings of the manifest, which `apply` sets."""
    manifest = replace(manifest, default_level=manifest.environment(target.name).level)
    try:
        changes = [
            change
            for subject in subjects
            for change in find_setting_changes(target.registry, manifest, target.qualify(subject))
            if change.before != Mode.IMPORT
        ]
    except (Forbidden, NotFound):  # the caller may not read settings, or the server has none
        return
    if changes:
        number = count_noun(len(changes), "setting")
        verb = "differs" if len(changes) == 1 else "differ"
        example = f"the {changes[0].setting} of `{changes[0].subject}`"
        command = shell_command("apply", environment=target.name)
        yield (
            f"{number} of {target.name} {verb} from the manifest, such as {example}; "
            f"promotion does not change settings, which this does: {command}"
        )


def _describe_associations(target: ConnectedEnvironment, manifest: Manifest, names: Iterable[str]) -> Iterator[str]:
    """Yield a note if the target does not have the associations of the manifest, which `apply` sets."""
    environment = manifest.environment(target.name)
    manifest = replace(manifest, default_namespace=environment.default_namespace)
    subjects = [target.qualify(name) for name in names]
    facts = FileFacts(subjects, covers_folder=False)
    comparison = compare_associations(target.registry, manifest, environment.context, facts)
    if comparison.changes:
        number = count_noun(len(comparison.changes), "association")
        verb = "is" if len(comparison.changes) == 1 else "are"
        first = comparison.changes[0]
        part = describe_part(first.resource.name, first.part)
        command = shell_command("apply", environment=target.name)
        yield (
            f"{number} of the manifest {verb} not in {target.name}, such as that of {part} with `{first.subject}`; "
            f"promotion does not set associations, which this does: {command}"
        )


def _open_environments(
    options: Namespace, manifest: Manifest, stack: ExitStack
) -> tuple[ConnectedEnvironment, ConnectedEnvironment]:
    """Connect to the registries of both environments.

    Raises:
        UsageError: an environment does not exist, or both are the same.
    """
    environments = [(name, resolve_environment(manifest, name)) for name in (options.source, options.target)]
    first, second = ((list_urls(each.registry), each.context or DEFAULT_CONTEXT) for _, each in environments)
    if first == second:
        raise UsageError(f"`{options.source}` and `{options.target}` are the same registry and context")
    source, target = (
        ConnectedEnvironment(name, each.context or DEFAULT_CONTEXT, stack.enter_context(_connect(options, name, each)))
        for name, each in environments
    )
    return source, target


def _connect(options: Namespace, name: str, environment: Environment) -> Registry:
    own = Namespace(**{**vars(options), "environment": name})
    use_manifest_registry(own, environment.registry)
    return connect(own)


def _json_body(promotion: PromotionPlanner, versions: Iterable[PromotedVersion], *, applied: bool) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "from": promotion.source.name,
        "to": promotion.target.name,
        "applied": applied,
        "versions": [version.body() for version in versions],
        "refused": [{"subject": each.subject, "reason": each.reason} for each in promotion.refusals.values()],
        "notes": [note.text for note in promotion.notes],
    }


def _print_version(promotion: PromotionPlanner, version: PromotedVersion) -> None:
    source, target, schema_id = promotion.source.name, promotion.target.name, version.schema.schema_id
    if version.schema_id is None:
        verb = "would become"
        schema_ids = f"with id {schema_id} as in {source}" if version.keeps_id else f"with an id that {target} assigns"
    else:
        verb = "registered as"
        same = "as" if version.keeps_id else f"which is {schema_id}"
        schema_ids = f"id {version.schema_id}, {same} in {source}"
    what = f"`{version.subject}`: version {version.source_version} of {source}"
    text = f"{what} {verb} version {version.version} in {target}, {schema_ids}"
    print_result(with_tone(Tone.GOOD, escape_line(text)))


def _print_ended(promotion: PromotionPlanner, ended: Iterable[tuple[str, Mode]]) -> None:
    """Print the subjects whose mode IMPORT was ended."""
    for subject, mode in ended:
        text = f"`{subject}`: mode IMPORT -> {mode} in {promotion.target.name}, as in the manifest"
        print_result(with_tone(Tone.GOOD, escape_line(text)))


def _print_rest(
    argv: Sequence[str], promotion: PromotionPlanner, done: list[PromotedVersion], *, applied: bool
) -> None:
    """Print the planned versions, unless they were registered, then refusals, notes and the summary."""
    source, target = promotion.source.name, promotion.target.name
    for version in () if applied else promotion.missing:
        _print_version(promotion, version)
    for refusal in promotion.refusals.values():
        print_result(with_tone(Tone.BAD, escape_line(f"`{refusal.subject}`: {refusal.reason}")))
    for note in promotion.notes:
        print_message(f"note: {note.text}")
    missing = count_noun(len(promotion.missing), "version")
    if promotion.refusals:
        refused = count_noun(len(promotion.refusals), "subject")
        outcome = f"{len(done):,} of {missing} registered" if applied else "nothing was registered"
        print_message(f"{refused} cannot be promoted to {target}: {outcome}")
    elif applied and done:
        print_message(f"{count_noun(len(done), 'version')} registered in {target}")
    elif not promotion.missing and not promotion.versions:
        print_message(f"nothing to promote: {source} has no versions of these subjects")
    elif not promotion.missing:
        print_message(f"nothing to promote: {target} has {count_noun(promotion.versions, 'version')}, all of {source}")
    else:
        arguments = add_flags([each for each in argv if each != "--exit-code"], "--apply")
        command = " ".join(map(quote_word, ["contractlog", "promote", *arguments]))
        print_message(f"{missing} would be registered in {target}: {command}")
