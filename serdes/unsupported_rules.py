"""Detection of schema rules that would have to run. This release runs none, and ignores none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes.errors import RuleNotRun

__all__ = ["RuleDirection", "reject_migrations", "reject_rules"]

RuleDirection: TypeAlias = Literal["WRITE", "READ"]

_CLIENT_SIDE: Final = frozenset({None, "ALL", "CLIENT"})
_RULE_MODES: Final = {"WRITE": frozenset({"WRITE", "WRITEREAD"}), "READ": frozenset({"READ", "WRITEREAD"})}
_MIGRATION_MODES: Final = {"up": frozenset({"UPGRADE", "UPDOWN"}), "down": frozenset({"DOWNGRADE", "UPDOWN"})}


def reject_rules(schema: RegisteredSchema | SchemaDraft, way: RuleDirection) -> None:
    """Reject a schema whose domain or encoding rules would have to run on writing, or on reading.

    Rules that are disabled, that belong to the other direction, or that are enabled for servers or gateways only, do
    not affect a serializer.

    Raises:
        RuleNotRun: names the first such rule.
    """
    for rules in _enabled_rule_sets(schema):
        _reject_matching((*rules.domain_rules, *rules.encoding_rules), _RULE_MODES[way], schema, way)


def reject_migrations(schema: RegisteredSchema, direction: Literal["up", "down"]) -> None:
    """Reject a version whose migration rules would have to run on the way up to it, or down from it.

    Raises:
        RuleNotRun: names the first such rule.
    """
    for rules in _enabled_rule_sets(schema):
        _reject_matching(rules.migration_rules, _MIGRATION_MODES[direction], schema, "READ")


def _enabled_rule_sets(schema: RegisteredSchema | SchemaDraft) -> Iterator[RuleSet]:
    if schema.rule_set is not None and schema.rule_set.enable_at in _CLIENT_SIDE:
        yield schema.rule_set


def _reject_matching(
    rules: tuple[Rule, ...], modes: frozenset[str], schema: RegisteredSchema | SchemaDraft, way: RuleDirection
) -> None:
    for rule in rules:
        if rule.mode in modes and not rule.disabled:
            raise RuleNotRun(
                reason=f"the rule {rule.name} ({rule.type or rule.kind}) of the schema would have to run on "
                f"{'writing' if way == 'WRITE' else 'reading'}, and this release runs no rules",
                rule=rule.name,
                schema_id=int(schema.schema_id) if isinstance(schema, RegisteredSchema) else None,
            )
