"""Implementation of ``contractlog lint``."""

from __future__ import annotations

import stat
from argparse import Namespace
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.lint.manifest_entries import FileLint, LintEntries
from contractlog.clients.cli.output import count_noun, is_verbose, print_error, print_json, print_message, print_result
from contractlog.clients.cli.report_formats.lint_report import lint_report
from contractlog.clients.cli.report_formats.report_output import output_json, output_report, reported_failures
from contractlog.clients.cli.report_formats.warning_report import add_manifest_warnings
from contractlog.clients.cli.schema_folder.argument_files import print_folder_warnings
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, find_removed_types, list_files
from contractlog.clients.cli.schema_folder.manifest import find_manifest
from contractlog.clients.cli.schema_folder.manifest_warnings import ManifestWarning
from contractlog.clients.cli.schema_folder.rule_warnings import find_rule_warnings
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile, read_file
from contractlog.clients.cli.schema_folder.unused_types import find_unused_types
from contractlog.clients.cli.schema_folder.waivers import Waiver, describe_silenced
from contractlog.compatibility.errors import InvalidSchema, UsageError
from contractlog.compatibility.lint.fixer import fix_schema
from contractlog.compatibility.lint.linter import LINT_RULES, lint_schema
from contractlog.compatibility.lint.rule import LintFinding, LintRule, Severity

__all__ = ["run"]

FORMAT: Final = "contractlog.lint/1"
RULES_FORMAT: Final = "contractlog.lint-rules/1"
_MAX_SUGGESTED: Final = 3  #: rules that are suggested in place of an unknown one


@dataclass(frozen=True, slots=True)
class FileFinding:
    """A finding with its file: the facts that an output format needs."""

    path: Path
    finding: LintFinding

    def body(self) -> dict[str, Any]:
        """Return the finding in the JSON output."""
        return {
            "path": str(self.path),
            "line": self.finding.position.line,
            "column": self.finding.position.column,
            "rule": self.finding.rule.id,
            "severity": self.finding.rule.severity.value,
            "message": self.finding.message,
            "pointer": self.finding.pointer,
            "fixable": bool(self.finding.changes),
        }

    def line(self) -> str:
        """Return the finding as one line, in the form that editors and terminals make into a link."""
        rule = self.finding.rule
        return f"{self.path}:{self.finding.position}: {rule.severity.value}: {self.finding.message} [{rule.id}]"


@dataclass
class _LintResult:
    """Findings of all files, by what became of them."""

    remaining: dict[Path, Sequence[LintFinding]] = field(default_factory=dict)
    fixed: list[FileFinding] = field(default_factory=list)
    waived: list[tuple[FileFinding, Waiver]] = field(default_factory=list)
    used_waivers: dict[Waiver, None] = field(default_factory=dict)  #: those for findings, expired ones included

    @property
    def findings(self) -> list[FileFinding]:
        """The findings that are neither fixed nor waived."""
        return [FileFinding(path, finding) for path, findings in self.remaining.items() for finding in findings]

    def add(self, path: Path, lint: FileLint, fixed: Sequence[LintFinding], findings: Sequence[LintFinding]) -> None:
        """Add the findings of a file."""
        self.fixed += (FileFinding(path, finding) for finding in fixed)
        waivers = [(finding, lint.find_waiver(finding)) for finding in findings]
        self.waived += ((FileFinding(path, finding), waiver) for finding, waiver in waivers if waiver is not None)
        self.remaining[path] = [finding for finding, waiver in waivers if waiver is None]
        for finding in findings:
            self.used_waivers |= dict.fromkeys(lint.list_waivers(finding))


def run(options: Namespace, argv: Sequence[str]) -> int:
    """Lint every file, print the findings, and return the exit code."""
    if options.rules or options.explain:
        return _print_rules(options)
    with reported_failures(options, "contractlog lint", argv):
        return _run(options)


def _run(options: Namespace) -> int:
    rules = _select_rules(options.only, options.disable)
    manifest = find_manifest(options.manifest, options.files)
    entries = LintEntries(manifest, datetime.now(UTC).date())
    unreadable = UnreadableFiles()
    result = _LintResult()
    paths: dict[Path, None] = {}
    for path in map(Path, options.files):
        with unreadable.collect(path):
            paths |= dict.fromkeys(list_files(path, unreadable, manifest, skip_ignored=True))
    unreadable.warnings += find_removed_types(options.files, manifest)
    unused = find_unused_types(manifest, paths)
    files: list[SchemaFile] = []
    for path in paths:
        with unreadable.collect(path):
            file = read_file(path)
            files.append(file)
            lint = entries.select(file, [rule for rule in rules if path in unused or not rule.of_folder])
            result.add(path, lint, *_lint_file(file, lint, fix=options.fix))
    threshold = Severity(options.fail_on)
    complete = not (unreadable.problems or options.only or options.disable)
    warnings = list(entries.list_warnings(options.files, result.used_waivers, complete=complete))
    warnings += find_rule_warnings(manifest, files)
    print_folder_warnings(options, unreadable)
    build = partial(lint_report, result.remaining, unreadable.problems, threshold)
    output_report(options, lambda root, version: add_manifest_warnings(build(root, version), warnings, root))
    for warning in warnings:
        print_error(f"{warning.severity}: {warning.describe()}")
    if options.format == "json":
        output_json(options, _json_body(len(paths), result, unreadable, entries, warnings))
    elif options.format == "text":
        _print_findings(result)
    unreadable.raise_errors()
    severities = {finding.finding.rule.severity for finding in result.findings}
    severities |= {warning.severity for warning in warnings}
    severities |= {Severity.WARNING} if unreadable.warnings else set()
    failed = any(severity.reaches(threshold) for severity in severities)
    return exit_codes.FINDINGS if failed else exit_codes.CLEAN


def _print_findings(result: _LintResult) -> None:
    findings = result.findings
    for finding in findings:
        print_result(finding.line())
    for finding, waiver in result.waived if is_verbose() else ():
        print_result(f"{finding.line()} silenced: {waiver.describe()}")
    if result.waived and not is_verbose():
        print_message(describe_silenced(len(result.waived)))
    count = len(result.remaining)  # without files that cannot be read
    for line in _summary(count, findings, result.fixed) if count else ():
        print_message(line)


def _print_rules(options: Namespace) -> int:
    rules = [_find_rule(options.explain)] if options.explain else list(LINT_RULES.values())
    if options.format == "json":
        print_json({"format": RULES_FORMAT, "rules": [_rule_body(rule) for rule in rules]})
    else:
        for line in _explain(rules[0]) if options.explain else _list_rules(rules):
            print_result(line)
    return exit_codes.CLEAN


def _lint_file(file: SchemaFile, lint: FileLint, *, fix: bool) -> tuple[Sequence[LintFinding], Sequence[LintFinding]]:
    """Return the findings that were fixed, and the others.

    Raises:
        UsageError: it is not a valid schema; the message begins with file, line and column.
    """
    draft = file.draft
    try:
        if not fix:
            return (), lint_schema(draft.text, draft.type, file.subject, lint.rules)
        text, fixed, remaining = fix_schema(
            draft.text,
            draft.type,
            file.subject,
            lint.rules,
            is_accepted=lambda finding: lint.find_waiver(finding) is not None,
        )
    except InvalidSchema as error:
        from contractlog.clients.cli.schema_folder.resolver import invalid_file_message  # noqa: PLC0415 - only after an error

        raise UsageError(invalid_file_message(file, error)) from None
    if text != draft.text:
        _write(file.path, text)
    return fixed, remaining


def _write(path: Path, text: str) -> None:
    """Replace the text of a file; its byte order mark and permissions stay."""
    target = path.resolve()  # a symbolic link stays one
    with target.open("rb") as file:
        mark = BOM_UTF8 if file.read(len(BOM_UTF8)) == BOM_UTF8 else b""
    with open_atomically(target, stat.S_IMODE(target.stat().st_mode)) as file:
        file.write(mark + text.encode())


def _select_rules(only: Sequence[str], disabled: Sequence[str]) -> list[LintRule]:
    chosen = [_find_rule(name) for name in only] or list(LINT_RULES.values())
    dropped = {_find_rule(name).id for name in disabled}
    return [rule for rule in chosen if rule.id not in dropped]


def _find_rule(name: str) -> LintRule:
    """Return the rule of an id.

    Raises:
        UsageError: there is none; the message names the nearest.
    """
    rule = LINT_RULES.get(name.upper())
    if rule is None:
        words = set(name.upper().split("_"))
        partial_names = [each for each in LINT_RULES if words <= set(each.split("_"))]
        nearest = partial_names[:_MAX_SUGGESTED] or get_close_matches(name.upper(), LINT_RULES, 1)
        alternatives = " or ".join(f"`{each}`" for each in nearest)
        hint = f"did you mean {alternatives}?" if nearest else "`contractlog lint --rules` lists the rules"
        raise UsageError(f"there is no rule `{name}`; {hint}")
    return rule


def _json_body(
    count: int,
    result: _LintResult,
    unreadable: UnreadableFiles,
    entries: LintEntries,
    warnings: Sequence[ManifestWarning],
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "files": count,
        "findings": [finding.body() for finding in result.findings],
        "fixed": [finding.body() for finding in result.fixed],
        "waived": [{**finding.body(), "waiver": waiver.body()} for finding, waiver in result.waived],
        "unreadable": [{"path": str(path), "reason": str(error)} for path, error in unreadable.problems],
        "expired": [
            {"rule": entry.name, "until": str(entry.until), "reason": entry.reason, "line": entry.line}
            for entry in entries.expired
        ],
        "manifest_warnings": [warning.body() for warning in warnings],
        "folder_warnings": [warning.body() for warning in unreadable.warnings],
    }


def _summary(count: int, findings: Sequence[FileFinding], fixed: Sequence[FileFinding]) -> Iterator[str]:
    """Yield the last lines: the counts, and the commands to go on with."""
    if fixed:
        paths = {finding.path for finding in fixed}
        yield f"fixed {count_noun(len(fixed), 'finding')} in {count_noun(len(paths), 'file')}: look at the changes"
    if not findings:
        yield f"no findings in {count_noun(count, 'file')}" if not fixed else "no other findings"
        return
    severities = Counter(finding.finding.rule.severity for finding in findings)
    counts = [count_noun(severities[severity], severity.value) for severity in Severity if severities[severity]]
    affected = len({finding.path for finding in findings})
    yield f"{', '.join(counts)} in {affected:,} of {count_noun(count, 'file')}"
    fixable = sum(bool(finding.finding.changes) for finding in findings)
    if fixable:
        yield f"{count_noun(fixable, 'finding')} can be fixed with --fix, compatibly and without reformatting"
    rule = min(findings, key=lambda finding: list(Severity).index(finding.finding.rule.severity)).finding.rule
    yield f"examples for a rule: contractlog lint --explain {rule.id}"


def _rule_body(rule: LintRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "fix": rule.fix or None,
        "subject": rule.subject,
        "bad": rule.bad,
        "good": rule.good,
    }


def _list_rules(rules: Sequence[LintRule]) -> Iterator[str]:
    width = max(len(rule.id) for rule in rules)
    for rule in rules:
        yield f"{rule.id:<{width}}  {rule.severity.value:<7}  {'fix' if rule.fix else '   '}  {rule.summary}"


def _explain(rule: LintRule) -> Iterator[str]:
    yield f"{rule.id} ({rule.severity.value})"
    yield f"    {rule.summary}."
    if rule.fix:
        yield f"    --fix: {rule.fix}."
    if rule.subject.endswith("-key"):
        yield f"    The examples are schemas of `{rule.subject}`."
    yield "bad:"
    yield f"    {rule.bad}"
    yield "good:"
    yield f"    {rule.good}"
    yield f"to silence it: contractlog lint --disable {rule.id} …"
