"""Application of rules to the fields of a schema, whatever its format: the interface of a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from contractlog.serdes.rules.context import RuleContext

__all__ = ["FieldRules", "has_rule_tag"]


@dataclass(frozen=True, slots=True)
class FieldRules:
    """The fields of a schema, for rules."""

    transform: Callable[[RuleContext, Any, Any], Any]  #: a ``FieldTransformer``; values are never changed in place
    inline_tags: Mapping[str, set[str]] | None  #: by full name; None if they depend on the path


def has_rule_tag(ctx: RuleContext) -> bool:
    """Return true if the rule applies to the current field: it has no tags, or one of the field's."""
    field = ctx.current_field()
    return field is not None and (not ctx.rule.tags or not field.tags.isdisjoint(ctx.rule.tags))
