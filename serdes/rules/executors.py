"""Interfaces of rule executors and actions, with confluent-kafka's names and methods.

Executors and actions that were written for confluent-kafka work without changes, and those written for these classes
work in its serializers: only methods are called, classes are never compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from contractlog.serdes.errors import RuleError, RuleFailed
from contractlog.serdes.rules.context import FieldContext, RuleContext

__all__ = [
    "ErrorAction",
    "FieldRuleExecutor",
    "FieldTransform",
    "FieldTransformer",
    "NoneAction",
    "RuleAction",
    "RuleBase",
    "RuleExecutor",
]

FieldTransform: TypeAlias = Callable[[RuleContext, FieldContext, Any], Any]  #: returns the new value of a field
FieldTransformer: TypeAlias = Callable[[RuleContext, FieldTransform, Any], Any]  #: applies one to a whole message


class RuleBase(ABC):
    """Base class of executors and actions. An instance may be shared by serializers and threads.

    May have a method ``bind_client(client)``, which is called once for each serializer, before ``configure``, with the
    registry client that the serializer was given.
    """

    may_block: bool = False  #: true if calls may wait for I/O: asynchronous serializers run them in a thread

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:  # noqa: B027 -- optional
        """Receive the configuration of the registry client and that of rules, once for each serializer."""

    @abstractmethod
    def type(self) -> str:
        """Return the type of rule or action that this runs, in capital letters."""

    def close(self) -> None:  # noqa: B027 -- optional
        """Release what this holds."""


class RuleExecutor(RuleBase):
    """Runs the rules of one type.

    May have a method ``prepare_rule(rule, parsed)``, which is called before the first record, with each stored rule and
    its parsed schema (None in migrations). If it raises ``RuleError``, the serializer raises ``RuleNotRun``.
    """

    @abstractmethod
    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Return the transformed message; for a condition, whether it is satisfied.

        Any exception is a failure of the rule, to which its action for failures is applied. An encoding rule gets and
        returns bytes; on reading it gets an ``io.BytesIO``, as in confluent-kafka.
        """


class FieldRuleExecutor(RuleExecutor):
    """Runs the rules of one type, field by field."""

    @abstractmethod
    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        """Return the function to apply to the fields with one of the rule's tags; to all, if it has none."""

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Apply the function to the fields, unless an equal transform does.

        If several transforms have the same tags, type and mode, only one of them runs: the first when writing, the last
        when reading.
        """
        outer = ctx.rules[: ctx.index] if ctx.rule_mode in {"WRITE", "UPGRADE"} else ctx.rules[ctx.index + 1 :]
        if any(are_equal_transforms(ctx.rule, other) for other in outer):
            return message
        if ctx.field_transformer is None:
            raise RuleError(f"rules of type {self.type()} cannot be applied here: the message has no schema")
        return ctx.field_transformer(ctx, self.new_transform(ctx), message)


class RuleAction(RuleBase):
    """Runs after a rule has succeeded or failed."""

    @abstractmethod
    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        """Do the action; ``ex`` is the failure. Only a ``SerializationError`` stops the serializer."""


class ErrorAction(RuleAction):
    """Action ``ERROR``: the record is rejected."""

    def type(self) -> str:
        """Return ``ERROR``."""
        return "ERROR"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:  # noqa: ARG002 -- the interface's
        """Raise ``RuleFailed``."""
        raise RuleFailed.of(ctx.rule, ctx.rule_mode, ex) from ex


class NoneAction(RuleAction):
    """Action ``NONE``: nothing happens."""

    def type(self) -> str:
        """Return ``NONE``."""
        return "NONE"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        """Do nothing."""


def are_equal_transforms(rule: Any, other: Any) -> bool:
    """Return true if both are transforms of the same type and mode for the same tags."""
    return (
        bool(rule.tags)
        and rule.kind == other.kind == "TRANSFORM"
        and (rule.mode, rule.type) == (other.mode, other.type)
        and list(rule.tags) == list(other.tags or ())
    )
