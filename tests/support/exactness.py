"""The policy EXACT on random pairs, with its verdicts held against documents."""

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

from support.json_schemas import URIS, Instances, Schemas, Versions, validator

_DOCUMENTS = 12  # for each side of a pair


def parsed(schema: Any) -> ParsedSchema:
    """Understand a schema that is no text yet."""
    return parse_schema(SchemaDraft(schema if isinstance(schema, str) else json.dumps(schema), SchemaType.JSON))


def exactly(reader: Any, writer: Any) -> tuple[Finding, ...]:
    """Return what breaks under the policy."""
    return select_breaking(compare_schemas(parsed(reader), parsed(writer), Policy.EXACT), Policy.EXACT)


@dataclass
class Tally:
    """What became of many pairs."""

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


def pair(seed: int, way: str) -> tuple[int, dict[str, Any], dict[str, Any], Random]:
    """Make an old schema and its next version; ``way`` is ``evolved`` or ``widened``."""
    random = Random(seed)  # noqa: S311 - repeatable
    draft = random.choice(list(URIS))
    old = Schemas(random, draft).schema()
    return draft, old, getattr(Versions(random, draft), way)(old), random


def tally(seeds: range, way: str) -> Tally:
    """Judge many pairs, and hold every verdict against documents."""
    found = Tally()
    for seed in seeds:
        draft, old, new, random = pair(seed, way)
        findings = exactly(new, old)
        checks = {finding.check for finding in findings}
        found.checks.update(checks - {FORMAT.id})
        verdict = (
            "accepted"
            if not findings
            else "undecided"
            if checks <= {UNDECIDED.id, "WORK_LIMIT_EXCEEDED"}
            else "refused"
        )
        found.verdicts[verdict] += 1
        reads, wrote = validator(new, draft), validator(old, draft)
        if verdict == "accepted":
            for source in (old, new):
                made = [Instances(random, source).instance() for _ in range(_DOCUMENTS)]
                valid = [document for document in made if wrote.is_valid(document)]
                found.documents += len(valid)
                found.refuted += [(seed, document) for document in valid if not reads.is_valid(document)]
        for finding in findings:
            document, is_valid, _ = finding.detail.partition(" is valid under the writer")
            if is_valid and not document.endswith("…"):
                shown = json.loads(document)
                if not wrote.is_valid(shown) or reads.is_valid(shown):
                    found.wrong.append((seed, shown))
    return found
