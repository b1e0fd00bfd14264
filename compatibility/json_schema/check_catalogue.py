"""Checks of JSON schemas, and those that each policy allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contractlog.compatibility.check_description import CheckDescription, CheckExample
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.json_schema.diff.difference_catalogue import (
    DIFFERENCE_KINDS,
    LENIENT,
    STRICT,
    check_id,
    explain,
)
from contractlog.compatibility.json_schema.exact.check_catalogue import ALLOWED_EXACT_CHECKS, EXACT_CHECKS

__all__ = ["ALLOWED_JSON_CHECKS", "JSON_CHECKS", "JSON_SCHEMA_NONCONFORMING", "allowed_kinds"]

JSON_SCHEMA_NONCONFORMING: Final = CheckDescription(
    "JSON_SCHEMA_NONCONFORMING",
    "The schema is rejected by its draft's meta-schema, or has a reference that cannot be resolved",
    "The parser of Confluent Schema Registry accepts such a schema, so it is compared like any other. Validators "
    "reject it: contractlog's serializers raise a typed error, and an audit cannot check records against it. The "
    "config member `strictJsonSchemas` rejects new ones.",
    of_candidate=True,
)
JSON_CHECKS: Final = (
    *(CheckDescription(check_id(kind.name), kind.title, explain(kind)) for kind in DIFFERENCE_KINDS.values()),
    *(
        CheckDescription(check.id, check.title, check.explanation, CheckExample(*check.bad), CheckExample(*check.good))
        for check in EXACT_CHECKS
    ),
    JSON_SCHEMA_NONCONFORMING,
)
ALLOWED_JSON_CHECKS: Final[Mapping[Policy, frozenset[str]]] = {
    Policy.STRICT: STRICT,
    Policy.LENIENT: LENIENT,
    Policy.EXACT: ALLOWED_EXACT_CHECKS,
}


def allowed_kinds(policy: Policy) -> frozenset[str]:
    """Return the kinds of differences that break nothing under a policy."""
    return frozenset(check.removeprefix("JSON_") for check in ALLOWED_JSON_CHECKS[policy])
