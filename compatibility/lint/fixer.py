"""Application of the fixes of lint findings to the text of a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.fixes.json_text_edits import Edit, JsonSource, apply_edits
from contractlog.compatibility.lint.linter import DEFAULT_RULES, lint_schema
from contractlog.compatibility.lint.rule import LintFinding, LintRule
from contractlog.compatibility.schema import SchemaType

__all__ = ["FixedSchema", "fix_schema"]

_MAX_PASSES: Final = 20


class FixedSchema(NamedTuple):
    """Result of applying fixes: a schema text, the findings that they removed, and the remaining ones."""

    text: str
    fixed: list[LintFinding]
    remaining: list[LintFinding]


def fix_schema(
    text: str,
    kind: SchemaType,
    subject: str = "",
    rules: Collection[LintRule] = DEFAULT_RULES,
    *,
    is_accepted: Callable[[LintFinding], bool] = lambda _: False,
) -> FixedSchema:
    """Apply the fixes of all findings; the rest of the text stays as its author formatted it.

    Fixes that would leave an invalid schema are not applied, nor those of findings that ``is_accepted`` accepts.

    Raises:
        InvalidSchema: not a valid schema; with line and column if known.
    """
    fixed: list[LintFinding] = []
    findings = lint_schema(text, kind, subject, rules)
    for _ in range(_MAX_PASSES):
        changed, applied = _apply_changes(text, [finding for finding in findings if not is_accepted(finding)])
        if not applied:
            break
        try:
            remaining = lint_schema(changed, kind, subject, rules)
        except InvalidSchema:
            break
        text, findings = changed, remaining
        fixed += applied
    return FixedSchema(text, fixed, findings)


def _apply_changes(text: str, findings: Sequence[LintFinding]) -> tuple[str, list[LintFinding]]:
    """Return the text after the changes of findings that do not overlap; the next pass applies the rest."""
    fixable = [finding for finding in findings if finding.changes]
    source = JsonSource(text if fixable else "")
    edits: list[Edit] = []
    applied: list[LintFinding] = []
    end = 0
    for finding in fixable:
        more = [edit for change in finding.changes for edit in change.edits(source)]
        if more and min(edit.start for edit in more) >= end:
            edits += more
            end = max(edit.end for edit in more)
            applied.append(finding)
    changed = apply_edits(text, edits)
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        changed = re.sub(r"(?<!\r)\n", "\r\n", changed)
    return changed, applied
