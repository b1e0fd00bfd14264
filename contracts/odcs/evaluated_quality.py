"""The quality rules of a contract that contractlog evaluates, in the form of ``<topic>.quality.yaml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.lint.rule import Severity
from contractlog.contracts.odcs.document import find_topic
from contractlog.contracts.odcs.finding import ContractCheck, ContractFinding, DocumentPath
from contractlog.contracts.quality.odcs_reader import parse_quality
from contractlog.contracts.quality.rules import QualityRules

__all__ = ["find_quality_problems", "parse_rules", "select_quality"]

_LATENCY: Final = frozenset({"latency", "ly", "freshness"})
_RULES: Final = ("required", "unique", "logicalTypeOptions")
_KEPT: Final = ("name", "logicalType", *_RULES)


def select_quality(document: Mapping[str, Any], index: int = 0) -> dict[str, Any]:
    """Return the rules of a schema object that contractlog evaluates, as the content of a quality file."""
    element = document["schema"][index]
    levels = [each for each in document.get("slaProperties", ()) if _is_latency(each)]
    selected: dict[str, Any] = {"physicalName": find_topic(element)}
    selected |= _select_rules(element)
    return selected | ({"slaProperties": levels} if levels else {})


def parse_rules(document: Mapping[str, Any], name: str, index: int = 0) -> QualityRules:
    """Return these rules as values.

    Raises:
        UsageError: a rule is wrong; ``find_quality_problems`` has all of them.
    """
    selected = select_quality(document, index)
    return parse_quality(selected["physicalName"], selected, name, {})


def find_quality_problems(document: Mapping[str, Any]) -> Iterator[ContractFinding]:
    """Yield a finding for each rule that is wrong, and for each that contractlog does not evaluate."""
    for index, element in enumerate(document.get("schema") or ()):
        yield from _check_element(element, ("schema", index), is_topic=True)
    for index, level in enumerate(document.get("slaProperties") or ()):
        path: DocumentPath = ("slaProperties", index)
        if _is_latency(level):
            yield from _try({"slaProperties": [level]}, path, ("slaProperties", 0))
        else:
            yield _not_evaluated(path)


def _check_element(element: Mapping[str, Any], path: DocumentPath, *, is_topic: bool) -> Iterator[ContractFinding]:
    for index, rule in enumerate(element.get("quality") or ()):
        at = (*path, "quality", index)
        if not _is_evaluated(rule):
            yield _not_evaluated(at)
        elif is_topic:
            yield from _try({"quality": [rule]}, at, ("quality", 0))
        else:
            inner = ("properties", 0, "quality", 0)
            yield from _try({"properties": [{"name": "field", "quality": [rule]}]}, at, inner)
    for index, inner_element in enumerate(element.get("properties") or ()):
        yield from _check_element(inner_element, (*path, "properties", index), is_topic=False)
    if "items" in element:
        yield from _check_element(element["items"], (*path, "items"), is_topic=False)
    if "map" in element:
        yield from _check_element(element["map"].get("value", {}), (*path, "map", "value"), is_topic=False)


def _try(document: dict[str, Any], path: DocumentPath, inner: DocumentPath) -> Iterator[ContractFinding]:
    """Yield the problem of a rule, whose path in a small document is another one."""
    try:
        parse_quality("topic", document, "", {})
    except UsageError as error:
        at = tuple(error.facts.get("path", ()))
        suffix = at[len(inner) :] if at[: len(inner)] == inner else ()
        problem = error.facts.get("problem", str(error))
        yield ContractFinding((*path, *suffix), ContractCheck.QUALITY, problem)


def _not_evaluated(path: DocumentPath) -> ContractFinding:
    message = "is kept, but contractlog does not evaluate it"
    return ContractFinding(path, ContractCheck.NOT_EVALUATED, message, Severity.NOTE)


def _select_rules(element: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules of an element and of those inside; nothing if there are none."""
    selected: dict[str, Any] = {}
    rules = [rule for rule in element.get("quality") or () if _is_evaluated(rule)]
    if rules:
        selected["quality"] = rules
    references = [each for each in element.get("relationships") or () if isinstance(each.get("to"), str)]
    if references and "from" not in references[0]:
        selected["relationships"] = [{"type": "foreignKey", "to": each["to"]} for each in references]
    properties = [each for each in map(_select_property, element.get("properties") or ()) if each]
    if properties:
        selected["properties"] = properties
    items = _select_property(element["items"]) if "items" in element else {}
    if items:
        selected["items"] = items
    return selected


def _select_property(element: Mapping[str, Any]) -> dict[str, Any]:
    selected = {name: element[name] for name in _KEPT if element.get(name)} | _select_rules(element)
    return selected if selected.keys() - {"name", "logicalType"} else {}


def _is_evaluated(rule: Mapping[str, Any]) -> bool:
    kind = rule.get("type", "library")
    return kind == "library" or (kind == "custom" and rule.get("engine") == "contractlog")


def _is_latency(level: Mapping[str, Any]) -> bool:
    return str(level.get("property")).lower() in _LATENCY
