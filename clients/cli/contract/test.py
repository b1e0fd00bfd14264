"""``contractlog contract test``: a contract against the registry and the newest published audit."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from contractlog.clients.calls.extensions import conformance
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.contract.contract_files import ContractFile, read_contract
from contractlog.clients.cli.options import connect, select_context
from contractlog.clients.cli.output import Tone, print_json, print_message, print_result, with_tone
from contractlog.clients.cli.registry_lookups import fetch_if_supported
from contractlog.clients.registry import Registry
from contractlog.compatibility.change_classification import classify_change_between
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import ConformanceNotFound, SubjectNotFound
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import qualify_subject, topic_subject
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.schema import SchemaDraft
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.report import TopicPart
from contractlog.contracts.odcs.custom_properties import read_custom
from contractlog.contracts.odcs.document import PART, build_schema, find_topic, list_schemas
from contractlog.contracts.odcs.evaluated_quality import parse_rules

__all__ = ["run"]

FORMAT: Final = "contractlog.contract-test/1"
_TONES: Final = {"passed": Tone.GOOD, "failed": Tone.BAD, "not evaluated": Tone.WARNING, "muted": Tone.WARNING}


@dataclass(frozen=True, slots=True)
class _Result:
    """Result of one check."""

    check: str
    outcome: str  #: passed, failed, muted or not evaluated
    detail: str


def run(options: Namespace) -> int:
    """Print the result of each check; exit code 1 if one failed."""
    file = read_contract(options.file)
    errors = [each for each in file.findings if each.severity is Severity.ERROR]
    results = [_Result("contract", "failed", file.describe(each)) for each in errors]
    if not errors:
        results = [_Result("contract", "passed", "the contract is valid"), *_test_schemas(file, options)]
    if options.format == "json":
        body = [{"check": each.check, "outcome": each.outcome, "detail": each.detail} for each in results]
        print_json({"format": FORMAT, "contract": str(file.path), "results": body})
    for result in results if options.format == "text" else ():
        print_result(with_tone(_TONES[result.outcome], escape_line(f"{result.check}: {result.detail}")))
    failed = sum(each.outcome == "failed" for each in results)
    print_message(f"{failed:,} of {len(results):,} checks failed")
    return exit_codes.FINDINGS if failed else exit_codes.CLEAN


def _test_schemas(file: ContractFile, options: Namespace) -> Iterator[_Result]:
    context = select_context(options)
    with connect(options) as registry:
        for index, element in enumerate(list_schemas(file.contract)):
            topic = find_topic(element)
            part = "key" if read_custom(element).get(PART) == "key" else "value"
            yield _test_schema(registry, file, index, qualify_subject(topic_subject(topic, part), context))
            if part == "value":
                yield from _test_quality(registry, file, index, topic)


def _test_schema(registry: Registry, file: ContractFile, index: int, subject: str) -> _Result:
    """Compare the schema with the latest version of the subject."""
    draft = build_schema(file.contract, index).draft
    check = f"schema of {subject}"
    try:
        latest = registry.version(subject, "latest")
    except SubjectNotFound:
        return _Result(check, "not evaluated", "the subject has no version: register the schema of the contract")
    if draft.references or latest.references:
        return _Result(check, "not evaluated", "the schema refers to others: contractlog check compares it")
    if draft.type is not latest.type:
        return _Result(check, "failed", f"version {latest.version} is {latest.type}, the contract has {draft.type}")
    parsed, existing = (
        parse_schema(draft, strict=False),
        parse_schema(SchemaDraft(latest.text, latest.type), strict=False),
    )
    if parsed.normalized == existing.normalized:
        return _Result(check, "passed", f"version {latest.version} has the schema of the contract")
    change = classify_change_between(existing, parsed, policy=Policy.STRICT)
    levels = ", ".join(change.levels)
    detail = f"differs from version {latest.version}; levels that admit the change: {levels}"
    return _Result(check, "failed", f"the schema of the contract {detail}")


def _test_quality(registry: Registry, file: ContractFile, index: int, topic: str) -> Iterator[_Result]:
    """Yield the result of each rule in the newest audit that was published."""
    rules = parse_rules(file.contract, str(file.path), index).rules
    entries: list[TopicPart] | None = None
    with suppress(ConformanceNotFound):
        entries = fetch_if_supported(lambda: registry.send(conformance(topic, part="value"))) if rules else None
    results = {
        (each["rule"], each["field"], each["metric"]): each
        for entry in entries or ()
        for each in entry.get("quality", ())
    }
    for rule in rules:
        name = f"{rule.name}{f' ({rule.field})' if rule.field else ''}"
        result = results.get((rule.name, rule.field, rule.metric))
        if result is None or result["expected"] != str(rule.bound):
            detail = f"no published audit has it: contractlog audit {topic} --quality FILE --publish"
            yield _Result(name, "not evaluated", f"{rule.metric} {rule.bound}; {detail}")
        else:
            is_failure = result["outcome"] != "failed" or result["severity"] == "error"
            actual = "" if result["actual"] is None else f", is {result['actual']:,g}"
            yield _Result(name, result["outcome"] if is_failure else "muted", f"{rule.metric} {rule.bound}{actual}")
