"""Findings located in a schema file, the first ones with suggested fixes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion
from contractlog.compatibility.field_paths import find_field_path
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.finding_positions import find_positions
from contractlog.compatibility.fixes.fix_search import FixSearch
from contractlog.compatibility.level import Direction
from contractlog.compatibility.located_finding import LocatedFinding, locate_finding, locate_nonconformity
from contractlog.compatibility.schema import ParsedSchema
from contractlog.compatibility.schema_diff import MAX_FINDINGS_WITH_FIXES

__all__ = ["list_file_findings", "locate_findings"]


def list_file_findings(file: SchemaFile, parsed: ParsedSchema) -> tuple[LocatedFinding, ...]:
    """Return the findings of a file that do not depend on other versions."""
    finding = locate_nonconformity(parsed, file.draft.text)
    return () if finding is None else (finding,)


def locate_findings(
    file: SchemaFile,
    parsed: ParsedSchema,
    verdict: Verdict,
    compared: Sequence[ParsedVersion],
    descriptions: Mapping[int, tuple[str, str]],
    *,
    policy: Policy,
    additional_checks: frozenset[str] = frozenset(),
) -> Iterator[LocatedFinding]:
    """Yield every finding with its position in the file, the first ones with suggested fixes.

    Args:
        file: the file of the new schema.
        parsed: the new schema.
        verdict: the findings.
        compared: the versions that it was compared with.
        descriptions: name and text of each version by its number.
        policy: the policy by which it was compared.
        additional_checks: ids of checks with findings besides those of the policy.
    """
    trials: dict[int, FixSearch] = {}
    versions = {earlier.version: earlier.parsed for earlier in compared}
    text = file.draft.text
    pairs = [(comparison, finding) for comparison in verdict.comparisons for finding in comparison.findings]
    positions = find_positions(text, [(finding, comparison.direction) for comparison, finding in pairs])
    for number, ((comparison, finding), position) in enumerate(zip(pairs, positions, strict=True)):
        version = comparison.version or 0
        description, earlier_text = descriptions[version]
        trial = trials.setdefault(
            version,
            FixSearch(
                text=text,
                candidate=parsed,
                earlier_text=earlier_text,
                earlier=versions[version],
                directions=verdict.level.directions,
                policy=policy,
                additional_checks=additional_checks,
                other_versions=[other for beside, other in versions.items() if beside != version],
            ),
        )
        fixes = trial.find_fixes(finding, comparison.direction) if number < MAX_FINDINGS_WITH_FIXES else ()
        located = locate_finding(finding, comparison.direction, description, position, fixes)
        yield replace(located, field=_find_field(located, text, earlier_text))


def _find_field(located: LocatedFinding, text: str, earlier_text: str) -> str | None:
    """Return the field of a finding, as the earlier version names it, unless only the new one has it."""
    finding = located.finding
    earlier_pointer = finding.writer_at if located.direction is Direction.BACKWARD else finding.reader_at
    new, earlier = find_field_path(text, located.pointer), find_field_path(earlier_text, earlier_pointer)
    if new is None or earlier is None:
        return earlier
    return new if _count_levels(new) > _count_levels(earlier) else earlier


def _count_levels(path: str) -> int:
    return path.count(".") + path.count("[]") + path.count("{}") + bool(path)
