"""Verdicts of the policy EXACT on random pairs, checked with documents."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.formats import compare_schemas, parse_schema, select_breaking
from contractlog.compatibility.json_schema.exact.check_catalogue import FORMAT, UNDECIDED
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

from support.json_schemas import URIS, DocumentGenerator, JsonSchemaGenerator, VersionGenerator, validator

_DOCUMENTS = 12  # for each side of a pair


def parse(schema: Any) -> ParsedSchema:
    """Parse a schema given as text or as JSON."""
    return parse_schema(SchemaDraft(schema if isinstance(schema, str) else json.dumps(schema), SchemaType.JSON))


def find_breaking_changes(reader: Any, writer: Any) -> tuple[Finding, ...]:
    """Return the breaking findings under the policy."""
    return select_breaking(compare_schemas(parse(reader), parse(writer), Policy.EXACT), Policy.EXACT)


@dataclass
class VerdictCounts:
    """Counts of verdicts, and verdicts that documents refute."""

    verdicts: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    refuted: list[tuple[int, Any]] = field(
        default_factory=list
    )  #: pairs that were accepted, with what speaks against it
    wrong: list[tuple[int, Any]] = field(default_factory=list)  #: findings whose document is no counterexample
    documents: int = 0  #: valid under the old schema of an accepted pair

    @property
    def undecided(self) -> float:
        """The share of undecided pairs."""
        return self.verdicts["undecided"] / max(1, self.verdicts.total())

    def __str__(self) -> str:
        return f"{dict(self.verdicts)}, {dict(self.checks)}, {self.documents} documents, {len(self.refuted)} refuted"


def create_pair(seed: int, way: str) -> tuple[int, dict[str, Any], dict[str, Any], Random]:
    """Make an old schema and its next version; ``way`` is ``evolve`` or ``widen``."""
    random = Random(seed)  # noqa: S311 - repeatable
    draft = random.choice(list(URIS))
    old = JsonSchemaGenerator(random, draft).schema()
    return draft, old, getattr(VersionGenerator(random, draft), way)(old), random


def count_verdicts(seeds: range, way: str) -> VerdictCounts:
    """Check many pairs, and compare every verdict with documents."""
    counts = VerdictCounts()
    for seed in seeds:
        draft, old, new, random = create_pair(seed, way)
        findings = find_breaking_changes(new, old)
        checks = {finding.check for finding in findings}
        counts.checks.update(checks - {FORMAT.id})
        verdict = (
            "accepted"
            if not findings
            else "undecided"
            if checks <= {UNDECIDED.id, "WORK_LIMIT_EXCEEDED"}
            else "refused"
        )
        counts.verdicts[verdict] += 1
        reader_validator, writer_validator = validator(new, draft), validator(old, draft)
        if verdict == "accepted":
            for source in (old, new):
                documents = [DocumentGenerator(random, source).instance() for _ in range(_DOCUMENTS)]
                valid = [document for document in documents if writer_validator.is_valid(document)]
                counts.documents += len(valid)
                counts.refuted += [(seed, document) for document in valid if not reader_validator.is_valid(document)]
        for finding in findings:
            document, is_valid, _ = finding.detail.partition(" is valid under the writer")
            if is_valid and not document.endswith("…"):
                counterexample = json.loads(document)
                if not writer_validator.is_valid(counterexample) or reader_validator.is_valid(counterexample):
                    counts.wrong.append((seed, counterexample))
    return counts
