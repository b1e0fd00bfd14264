"""Migration rules between the version that a record was written with and the version it is read as."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.serdes.errors import RuleNotRun
from contractlog.serdes.rules.components import RuleComponents
from contractlog.serdes.rules.due_rules import RuleDirection, has_due_rules
from contractlog.serdes.source_requests import Steps, request

if TYPE_CHECKING:
    from contractlog.serdes.rules.rule_sequence import RuleSequence

__all__ = ["plan_migrations"]

_MAX_VERSIONS: Final = 10_000  #: versions between two that are fetched


def plan_migrations(
    written: RegisteredSchema, read: RegisteredSchema, subject: str, components: RuleComponents
) -> Steps[list[RuleSequence]]:
    """Return the rules that lead from one version of a subject to another, step by step.

    Upward, the rules of each later version run, and downward, those of each earlier version that is left behind.
    Versions that no longer exist are passed over.

    Raises:
        RuleNotRun: a rule cannot be executed, or the record is not of the subject whose rules would apply.
    """
    if written.schema_id == read.schema_id:
        return []
    try:
        start: RegisteredSchema = yield request("lookup", subject, written.draft, deleted=True)
    except NotFound:  # of another subject, so there is no path from version to version
        if has_due_rules(read.rule_set, "migration", "UPGRADE", components):
            raise RuleNotRun(
                reason=f"the version that the record is read as has migration rules, and the record is not of {subject}"
            ) from None
        return []
    first, last = int(start.version or 0), int(read.version or 0)
    low, high = min(first, last), max(first, last)
    if high - low > _MAX_VERSIONS:
        raise RuleNotRun(reason=f"there are more than {_MAX_VERSIONS:,} versions between {low} and {high}")
    versions = []
    for number in range(low, high + 1):
        if number == last:
            versions.append(read)
        elif number == first:
            versions.append(written)
        else:
            try:
                versions += [(yield request("version", subject, number, deleted=True))]
            except NotFound:
                continue
    direction: RuleDirection = "UPGRADE" if first < last else "DOWNGRADE"
    steps = (
        list(pairwise(versions)) if first < last else [(new, old) for old, new in reversed(list(pairwise(versions)))]
    )
    return [
        _make_sequence(source, target, direction, subject, components)
        for source, target in steps
        if has_due_rules(_owner(source, target, direction).rule_set, "migration", direction, components)
    ]


def _owner(source: RegisteredSchema, target: RegisteredSchema, direction: RuleDirection) -> RegisteredSchema:
    """Return the version that has the rules of a step: the later one."""
    return target if direction == "UPGRADE" else source


def _make_sequence(
    source: RegisteredSchema,
    target: RegisteredSchema,
    direction: RuleDirection,
    subject: str,
    components: RuleComponents,
) -> RuleSequence:
    from contractlog.serdes.rules.rule_sequence import RuleSequence  # noqa: PLC0415 -- slow to load

    owner = _owner(source, target, direction).draft
    return RuleSequence(
        components, "migration", direction, owner=owner, source=source.draft, target=target.draft, subject=subject
    )
