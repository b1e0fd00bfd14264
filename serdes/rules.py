"""Detection of schema rules that would have to run. This release runs none, and ignores none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from contractlog.compatibility.contract import Rule, RuleSet
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes.errors import RuleNotRun

__all__ = ["Way", "refuse_migrations", "refuse_rules"]

Way: TypeAlias = Literal["WRITE", "READ"]

_CLIENT_SIDE: Final = frozenset({None, "ALL", "CLIENT"})
_BOTH_WAYS: Final = {"WRITE": frozenset({"WRITE", "WRITEREAD"}), "READ": frozenset({"READ", "WRITEREAD"})}
_STEPS: Final = {"up": frozenset({"UPGRADE", "UPDOWN"}), "down": frozenset({"DOWNGRADE", "UPDOWN"})}


def refuse_rules(schema: RegisteredSchema | SchemaDraft, way: Way) -> None:
    """Reject a schema whose domain or encoding rules would have to run on writing, or on reading.

    Rules that are disabled, that belong to the other direction, or that are enabled for servers or gateways only, do
    not affect a serializer.

    Raises:
        RuleNotRun: names the first such rule.
    """
    for rules in _enabled(schema):
        _refuse((*rules.domain_rules, *rules.encoding_rules), _BOTH_WAYS[way], schema, way)


def refuse_migrations(schema: RegisteredSchema, direction: Literal["up", "down"]) -> None:
    """Reject a version whose migration rules would have to run on the way up to it, or down from it.

    Raises:
        RuleNotRun: names the first such rule.
    """
    for rules in _enabled(schema):
        _refuse(rules.migration_rules, _STEPS[direction], schema, "READ")


def _enabled(schema: RegisteredSchema | SchemaDraft) -> Iterator[RuleSet]:
    if schema.rule_set is not None and schema.rule_set.enable_at in _CLIENT_SIDE:
        yield schema.rule_set


def _refuse(rules: tuple[Rule, ...], modes: frozenset[str], schema: RegisteredSchema | SchemaDraft, way: Way) -> None:
    for rule in rules:
        if rule.mode in modes and not rule.disabled:
            raise RuleNotRun(
                reason=f"the rule {rule.name} ({rule.type or rule.kind}) of the schema would have to run on "
                f"{'writing' if way == 'WRITE' else 'reading'}, and this release runs no rules",
                rule=rule.name,
                schema_id=int(schema.schema_id) if isinstance(schema, RegisteredSchema) else None,
            )
