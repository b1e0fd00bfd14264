"""Inference of quality rules from the results of an audit, and their evaluation by another audit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.field_profiles import FieldProfile
from contractlog.contracts.audit.report import AuditReport, QualityResult, TopicPart
from contractlog.contracts.quality.evaluation import QualityContext, evaluate_rules
from contractlog.contracts.quality.inference import InferredRule, infer_rules
from contractlog.contracts.quality.odcs_writer import write_quality
from contractlog.contracts.quality.record_metrics import find_keys
from contractlog.contracts.quality.rules import QualityRule, QualityRules
from contractlog.spark_validation.jobs.former_report import read_former_report
from contractlog.spark_validation.jobs.quality_files import SUFFIX
from contractlog.spark_validation.jobs.result_folder import STATE
from contractlog.spark_validation.profiles.field_profiler import list_forms
from contractlog.spark_validation.report.formatters import format_count, format_plural
from contractlog.spark_validation.report.quality_sentences import describe_quality_result
from contractlog.spark_validation.sources.topic_patterns import match_topics
from contractlog.spark_validation.state.state_files import read_state

__all__ = ["InferRequest", "InferredFile", "write_inferred"]

_TOPIC: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class InferRequest:
    """Parameters of the inference."""

    audit: Path  #: folder of the audit
    holdout: Path | None  #: folder of another audit, whose records the rules must satisfy as well
    out: Path
    topics: tuple[str, ...]  #: names and globs; empty: all
    min_records: int
    force: bool  #: whether files that exist are replaced


@dataclass(frozen=True, slots=True)
class InferredFile:
    """The rules of a topic."""

    topic: str
    file: Path | None  #: None if there are no rules
    rules: int
    left_out: tuple[str, ...]  #: sentences about rules that the hold-out does not satisfy
    reason: str = ""  #: why there are no rules

    def body(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "topic": self.topic,
            "file": None if self.file is None else str(self.file),
            "rules": self.rules,
            "left_out": list(self.left_out),
            "reason": self.reason,
        }

    def __str__(self) -> str:
        if self.file is None:
            return escape_line(f"{self.topic}: no rules, {self.reason}")
        words = f"{self.file}: {format_plural(self.rules, 'rule')}"
        if self.left_out:
            words += f"; {format_plural(len(self.left_out), 'rule')} left out, which the hold-out does not satisfy"
        return escape_line(words)


def write_inferred(request: InferRequest) -> list[InferredFile]:
    """Write a file of rules for each topic, and return what was written.

    Raises:
        UsageError: a folder has no audit, a topic is not in it, or a file exists; nothing is written.
    """
    audit = _Audit.read(request.audit)
    holdout = None if request.holdout is None else _Audit.read(request.holdout)
    parts = _choose_parts(audit.report, request.topics, request.audit)
    texts: dict[Path, str] = {}
    results = []
    for part in parts:
        result, text = _infer_topic(request, audit, part, holdout)
        if result.file is not None:
            texts[result.file] = text
        results.append(result)
    existing = [file for file in texts if file.exists()]
    if existing and not request.force:
        raise UsageError(f"`{escape_line(str(existing[0]))}` exists: pass --force to replace it, or name another --out")
    try:
        request.out.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            with open_atomically(file) as target:
                target.write(text.encode())
    except OSError as error:
        raise UsageError(f"cannot write to `{escape_line(str(request.out))}`: {error.strerror or error}") from error
    return results


def _choose_parts(report: AuditReport, patterns: Sequence[str], folder: Path) -> list[TopicPart]:
    """Return the values of the chosen topics."""
    parts = {part["topic"]: part for part in report["topics"] if part["part"] == "value"}
    chosen: dict[str, TopicPart] = {}
    for pattern in patterns or ("*",):
        names = match_topics(pattern, parts)
        if patterns and not names:
            raise UsageError(f"the audit in `{escape_line(str(folder))}` has no topic `{escape_line(pattern)}`")
        chosen |= {name: parts[name] for name in names if _TOPIC.fullmatch(name)}
    return list(chosen.values())


def _infer_topic(
    request: InferRequest, audit: _Audit, part: TopicPart, holdout: _Audit | None
) -> tuple[InferredFile, str]:
    """Return the result for a topic, and the text of its file; empty without rules."""
    topic = part["topic"]
    inferred = infer_rules(part, audit.find_profiles(topic), min_records=request.min_records)
    own = audit.evaluate(topic, inferred)
    inferred = [rule for rule in inferred if own[rule.rule.name, rule.rule.field]["outcome"] == "passed"]
    results = {} if holdout is None else holdout.evaluate(topic, inferred)
    kept: list[tuple[QualityRule, str]] = []
    left_out = []
    for rule in inferred:
        result = results.get((rule.rule.name, rule.rule.field))
        if result is not None and result["outcome"] == "failed":
            left_out.append(escape_line(f"{rule.rule.name}: {describe_quality_result(result)}"))
        else:
            kept.append((rule.rule, _describe_support(rule, result, judged=holdout is not None)))
    if not kept:
        reason = (
            "the hold-out satisfies none" if inferred else f"fewer than {format_count(request.min_records)} records"
        )
        return InferredFile(topic, None, 0, tuple(left_out), reason), ""
    header = [
        escape_line(f"Inferred by contractlog infer from the audit of {audit.report['audited_at']}."),
        "Review the rules: they say what was, with a margin, and not what is right.",
        *(f"Left out, as the hold-out does not satisfy it: {sentence}" for sentence in left_out),
    ]
    file = request.out / f"{topic}{SUFFIX}"
    return InferredFile(topic, file, len(kept), tuple(left_out)), write_quality(topic, kept, header)


def _describe_support(rule: InferredRule, result: QualityResult | None, *, judged: bool) -> str:
    words = f"{format_count(rule.support)} {rule.noun}"
    if not judged:
        return words
    return f"{words}; hold-out: {'no records' if result is None else result['outcome']}"


@dataclass(frozen=True, slots=True)
class _Audit:
    """Results of an audit in a folder."""

    report: AuditReport
    profiles: Mapping[tuple[str, str, str], FieldProfile]

    @classmethod
    def read(cls, folder: Path) -> _Audit:
        report = read_former_report(folder)
        name = escape_line(str(folder))
        if report is None:
            raise UsageError(f"`{name}` has no report.json of an audit by this release of contractlog")
        if not report["scope"]["profiles"]:
            raise UsageError(f"the audit in `{name}` has no profiles of fields: repeat it without --no-profiles")
        return cls(report, read_state(folder / STATE).profiles)

    def find_profiles(self, topic: str) -> dict[str, FieldProfile]:
        """Return the profiles of the fields of a topic's values."""
        return {name: profile for (*key, name), profile in self.profiles.items() if key == [topic, "value"]}

    def evaluate(self, topic: str, inferred: Sequence[InferredRule]) -> dict[tuple[str, str], QualityResult]:
        """Return the results of rules by name and field; none if the audit has no records of the topic."""
        for part in self.report["topics"]:
            if (part["topic"], part["part"]) == (topic, "value") and part["records"]:
                now = datetime.fromisoformat(self.report["audited_at"])
                keys = find_keys(self.report).get(topic)
                context = QualityContext(part, self.find_profiles(topic), now, list_forms, keys)
                rules = QualityRules(topic, tuple(rule.rule for rule in inferred))
                return {(result["rule"], result["field"]): result for result in evaluate_rules(rules, context)}
        return {}
