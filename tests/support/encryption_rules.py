"""Contexts of encryption rules, and a clock that tests set."""

from __future__ import annotations

from typing import Any

from contractlog.clients.confluent.data_classes import Rule, RuleMode
from contractlog.serdes.rules import FieldContext, FieldType, RuleContext

SUBJECT = "orders-value"
KEY_ID = "key-1"
PARAMETERS = {
    "encrypt.kek.name": "pii",
    "encrypt.kms.type": "local-kms",
    "encrypt.kms.key.id": KEY_ID,
}
DAY = 24 * 60 * 60 * 1000


class SetClock:
    """Clock that tests set; the registry's own clock runs on."""

    def __init__(self, days: float = 0) -> None:
        import time

        self.start = time.time_ns() // 1_000_000
        self.days = days

    def now(self) -> int:
        """Return the time in milliseconds since 1970."""
        return self.start + int(self.days * DAY)


def rule_context(
    mode: str, *, subject: str | None = SUBJECT, rule_type: str = "ENCRYPT", **parameters: Any
) -> RuleContext:
    """Return the context of a rule; parameters have underscores in place of dots, and None removes one."""
    params = PARAMETERS | {name.replace("_", "."): value for name, value in parameters.items()}
    body = {
        "name": "encrypt",
        "kind": "TRANSFORM",
        "mode": "WRITEREAD",
        "type": rule_type,
        "tags": ["PII"],
        "params": {name: value for name, value in params.items() if value is not None},
    }
    rule = Rule.from_dict(body)
    return RuleContext(None, None, None, None, subject, RuleMode(mode), rule, 0, [rule])


def field(field_type: FieldType = FieldType.STRING) -> FieldContext:
    """Return a tagged field."""
    return FieldContext({}, "Order.email", "email", field_type, {"PII"})


def run_rule(executor: Any, mode: str, value: Any, field_type: FieldType = FieldType.STRING, **parameters: Any) -> Any:
    """Apply an executor of ENCRYPT to the value of a field."""
    ctx = rule_context(mode, **parameters)
    return executor.new_transform(ctx)(ctx, field(field_type), value)
