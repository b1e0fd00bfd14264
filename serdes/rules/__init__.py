"""Execution of the rules of a schema, as values are serialized and deserialized.

``executors.py`` has the interfaces of executors and actions, those of confluent-kafka; ``context.py`` what they are
given; ``rule_registry.py`` where they are registered; ``pipeline.py`` the order of execution; ``builtin.py`` the
types that need no registration. To add a type of rule, write an executor and add it to the table in ``builtin.py``.
This module imports nothing that is slow to load.
"""

from __future__ import annotations

from contractlog.serdes.errors import RuleConditionError, RuleError, RuleFailed, RuleNotRun
from contractlog.serdes.rules.context import FieldContext, FieldType, RuleContext
from contractlog.serdes.rules.executors import (
    ErrorAction,
    FieldRuleExecutor,
    FieldTransform,
    FieldTransformer,
    NoneAction,
    RuleAction,
    RuleBase,
    RuleExecutor,
)
from contractlog.serdes.rules.rule_registry import RuleOverride, RuleRegistry

__all__ = [
    "ErrorAction",
    "FieldContext",
    "FieldRuleExecutor",
    "FieldTransform",
    "FieldTransformer",
    "FieldType",
    "NoneAction",
    "RuleAction",
    "RuleBase",
    "RuleConditionError",
    "RuleContext",
    "RuleError",
    "RuleExecutor",
    "RuleFailed",
    "RuleNotRun",
    "RuleOverride",
    "RuleRegistry",
]
