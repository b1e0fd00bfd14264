"""Problems of a contract: its structure, schemas, rules and quality rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.odcs.document import RULE_SET, build_schema, list_schemas
from contractlog.contracts.odcs.evaluated_quality import find_quality_problems
from contractlog.contracts.odcs.finding import ContractCheck, ContractFinding, DocumentPath
from contractlog.contracts.odcs.validator import validate_contract
from contractlog.contracts.rules.compiled_rules import check_rule_set

__all__ = ["check_contract"]


def check_contract(document: Any) -> list[ContractFinding]:
    """Return the findings about a contract; schemas and rules are checked if the structure is valid."""
    findings = validate_contract(document)
    if any(each.severity is Severity.ERROR for each in findings):
        return findings
    for index in range(len(list_schemas(document))):
        findings += _check_schema(document, index)
    return [*findings, *find_quality_problems(document)]


def _check_schema(document: dict[str, Any], index: int) -> Iterator[ContractFinding]:
    built = build_schema(document, index)
    yield from built.findings
    parsed: ParsedSchema | None = None
    try:
        if not built.draft.references:
            parsed = parse_schema(built.draft)
    except InvalidSchema as error:
        yield ContractFinding(
            ("schema", index), ContractCheck.SCHEMA, f"is no valid {built.draft.type} schema: {error}"
        )
        return
    properties = document["schema"][index].get("customProperties", ())
    at = [number for number, each in enumerate(properties) if each["property"] == RULE_SET][:1]
    for problem in check_rule_set(built.draft.rule_set, parsed) if built.draft.rule_set is not None else ():
        path: DocumentPath = ("schema", index, "customProperties", *at)
        yield ContractFinding(path, ContractCheck.RULE, str(problem), Severity(problem.severity))
