"""Success of suggested fixes on random mutations.

``python tests/support/fix_statistics.py`` prints a table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from contractlog.compatibility.avro.check_catalogue import AVRO_WARNINGS
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import find_differences
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.fixes.json_text_edits import count_changed_tokens
from contractlog.compatibility.formats import parse_schema, select_breaking
from contractlog.compatibility.json_schema.exact.check_catalogue import FORMAT
from contractlog.compatibility.level import Direction
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

from support import avro_mutations, json_mutations
from support.fix_search import find_fix

LAYOUTS: list[dict[str, Any]] = [
    {},
    {"indent": 2},
    {"separators": (",", ":")},
    {"indent": 4, "separators": (",", ": ")},
]
EACH_AVRO_CHECK = [
    (check, direction)
    for check in avro_mutations.BACKWARD
    for direction in Direction
    if direction is Direction.BACKWARD or check in avro_mutations.FORWARD
]
EACH_JSON_CHECK = [(check, direction) for check in json_mutations.NARROWING for direction in Direction]
EACH_EXACT_CHECK = [(check, direction) for check in json_mutations.EXACT for direction in Direction]
ATTEMPTS = 200  #: mutations per mutation that has the finding of its check


@dataclass
class Row:
    """Results of the mutations for one check in one direction."""

    check: str
    direction: Direction
    policy: Policy = Policy.STRICT
    mutations: int = 0
    fixed: int = 0  #: whose findings all disappeared after a sequence of fixes
    larger: int = 0  #: whose fixes were larger than the mutation, in tokens
    mutation_tokens: int = 0
    mend_tokens: int = 0
    unfixed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def also(self) -> frozenset[str]:
        """The check, if it has to be enabled."""
        return (AVRO_WARNINGS | {FORMAT.id}) & {self.check}

    def __str__(self) -> str:
        return (
            f"{self.check:<60} {self.direction.value:<9} {self.mutations:>9} {self.fixed:>6} {self.larger:>7} "
            f"{self.mutation_tokens / max(self.mutations, 1):>9.1f} {self.mend_tokens / max(self.fixed, 1):>6.1f}"
        )


HEADER = f"{'check':<60} {'direction':<9} {'mutations':>9} {'fixed':>6} {'larger':>7} {'tokens':>9} {'mend':>6}"


def measure_avro_check(check: str, direction: Direction, wanted: int, random: Random) -> Row:
    """Create mutations until enough have the check's finding, and fix each."""
    table = avro_mutations.BACKWARD if direction is Direction.BACKWARD else avro_mutations.FORWARD
    row = Row(check, direction)
    for schema, changed in islice(avro_mutations.generate_mutations(table[check], random), wanted * ATTEMPTS):
        layout = random.choice(LAYOUTS)
        measure_mutation(row, json.dumps(schema, **layout), json.dumps(changed, **layout), SchemaType.AVRO)
        if row.mutations == wanted:
            break
    return row


def measure_json_check(check: str, direction: Direction, wanted: int, random: Random) -> Row:
    """Do the same for JSON; the candidate of a forward change is the wider schema."""
    exact = check in json_mutations.EXACT
    row = Row(check, direction, Policy.EXACT if exact else Policy.STRICT)
    mutations = json_mutations.generate_mutations(
        (json_mutations.EXACT if exact else json_mutations.NARROWING)[check], random
    )
    for wide, narrow in islice(mutations, wanted * ATTEMPTS):
        layout = random.choice(LAYOUTS)
        texts = (json.dumps(wide, **layout), json.dumps(narrow, **layout))
        measure_mutation(row, *(texts if direction is Direction.BACKWARD else texts[::-1]), SchemaType.JSON)
        if row.mutations == wanted:
            break
    return row


def measure_mutation(row: Row, text: str, changed: str, kind: SchemaType) -> None:
    """Count a mutation that has the finding, and the results of its fixes."""
    try:
        earlier, candidate = parse_schema(SchemaDraft(text, kind)), parse_schema(SchemaDraft(changed, kind))
    except InvalidSchema:
        return  # a removed part defined a type
    if list_findings(earlier, earlier, row):
        return  # the schema cannot read its own data
    if row.check not in {finding.check for finding in list_findings(candidate, earlier, row)}:
        return
    row.mutations += 1
    size = count_changed_tokens(text, changed)
    row.mutation_tokens += size
    mended = apply_fixes(changed, text, earlier, row)
    if mended is None:
        row.unfixed.append((text, changed))
        return
    row.fixed += 1
    row.mend_tokens += count_changed_tokens(changed, mended)
    if count_changed_tokens(changed, mended) > size:
        row.larger += 1
        row.unfixed.append((changed, mended))


def apply_fixes(text: str, earlier_text: str, earlier: ParsedSchema, row: Row) -> str | None:
    """Fix one finding after another; return None if one remains."""
    for _ in range(20):
        candidate = parse_schema(SchemaDraft(text, earlier.type))
        findings = list_findings(candidate, earlier, row)
        if not findings:
            return text
        fixes = (
            find_fix(
                text,
                finding,
                candidate,
                earlier,
                row.direction,
                earlier_text=earlier_text,
                policy=row.policy,
                additional_checks=row.also,
            )
            for finding in findings
        )
        fix = next(filter(None, fixes), None)
        if fix is None:
            return None
        text = fix.text
    return None


def list_findings(candidate: ParsedSchema, earlier: ParsedSchema, row: Row) -> tuple[Finding, ...]:
    findings = find_differences(candidate, earlier, row.direction, row.policy, additional_checks=row.also)
    return select_breaking(findings, row.policy, row.also)


def measure_all_checks(wanted: int) -> Iterator[Row]:
    for measure_check, checks in (
        (measure_avro_check, EACH_AVRO_CHECK),
        (measure_json_check, EACH_JSON_CHECK),
        (measure_json_check, EACH_EXACT_CHECK),
    ):
        for check, direction in checks:
            yield measure_check(check, direction, wanted, Random(f"{check} {direction}"))  # noqa: S311 - a repeatable one


if __name__ == "__main__":
    print(HEADER)  # noqa: T201 - a table for people
    for row in measure_all_checks(50):
        print(row)  # noqa: T201
        for text, other in row.unfixed[: int((sys.argv[1:] or ["0"])[0])]:
            print("   ", text, "\n   ", other)  # noqa: T201
