"""Quality rules as the text of an ODCS file, with comments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from contractlog.contracts.quality.rules import CUSTOM_FIELD_METRICS, CUSTOM_METRICS, Metric, QualityRule

__all__ = ["write_quality"]

MAX_SHORT: Final = 0xFFFF  #: the last character that an escape of four digits can name
MAX_PLAIN: Final = 1e15  #: larger whole numbers are written with an exponent
#: Metrics that are options of a property, and the name of the option.
_OPTIONS: Final[Mapping[Metric, str]] = {
    "minimum": "minimum",
    "maximum": "maximum",
    "minLength": "minLength",
    "maxLength": "maxLength",
}


def write_quality(topic: str, rules: Sequence[tuple[QualityRule, str]], header: Sequence[str] = ()) -> str:
    """Return the text of ``<topic>.quality.yaml``.

    Args:
        topic: the topic.
        rules: each rule with a comment; those of a field follow each other.
        header: lines of a comment at the beginning.
    """
    return "\n".join(_write_lines(topic, rules, header)) + "\n"


def _write_lines(topic: str, rules: Sequence[tuple[QualityRule, str]], header: Sequence[str]) -> Iterator[str]:
    yield from (f"# {line}" for line in header)
    yield f"physicalName: {_quote(topic)}"
    of_topic = [pair for pair in rules if not pair[0].field]
    if of_topic:
        yield "quality:"
        for rule, comment in of_topic:
            yield from _write_rule(rule, comment, "  ")
    fields = list(dict.fromkeys(rule.field for rule, _ in rules if rule.field))
    if fields:
        yield "properties:"
    for field in fields:
        yield from _write_property(field, [pair for pair in rules if pair[0].field == field])


def _write_property(field: str, rules: Sequence[tuple[QualityRule, str]]) -> Iterator[str]:
    yield f"  - name: {_quote(field)}"
    options = [pair for pair in rules if pair[0].metric in _OPTIONS]
    required = [pair for pair in rules if _is_required(pair[0])]
    for _, comment in required:
        yield f"    required: true  # {comment}"
    if options:
        yield f"    logicalType: {'string' if options[0][0].metric.endswith('Length') else 'number'}"
        yield "    logicalTypeOptions:"
    for rule, comment in options:
        yield f"      {_OPTIONS[rule.metric]}: {_write_number(rule.bound.first)}  # {comment}"
    others = [pair for pair in rules if pair not in options and pair not in required]
    if others:
        yield "    quality:"
    for rule, comment in others:
        yield from _write_rule(rule, comment, "      ")


def _is_required(rule: QualityRule) -> bool:
    return rule.metric == "nullValues" and rule.bound.operator == "mustBe" and not rule.bound.first


def _write_rule(rule: QualityRule, comment: str, indent: str) -> Iterator[str]:
    yield f"{indent}- name: {_quote(rule.name)}  # {comment}"
    if rule.metric in {*CUSTOM_METRICS, *CUSTOM_FIELD_METRICS}:
        yield f"{indent}  type: custom"
        yield f"{indent}  engine: contractlog"
        yield f"{indent}  implementation: {rule.metric}"
    else:
        yield f"{indent}  metric: {rule.metric}"
    if rule.values:
        yield f"{indent}  arguments: {{validValues: [{', '.join(map(_quote, rule.values))}]}}"
    if rule.target:
        yield f"{indent}  arguments: {{to: {_quote(rule.target)}, part: {rule.target_part}}}"
    if rule.unit != "rows":
        yield f"{indent}  unit: {rule.unit}"
    yield f"{indent}  {rule.bound.operator}: {_write_number(rule.bound.first)}"
    if rule.severity != "error":
        yield f"{indent}  severity: {rule.severity}"
    if rule.window:
        yield f"{indent}  customProperties: [{{property: per, value: {rule.window}}}]"


def _quote(text: str) -> str:
    r"""Return a text in double quotes; JSON's are YAML's, except characters that JSON writes as two.

    >>> _quote('a "\N{GRINNING FACE}"')
    '"a \\"\\U0001f600\\""'
    """
    return "".join(
        f"\\U{ord(character):08x}" if ord(character) > MAX_SHORT else json.dumps(character)[1:-1] for character in text
    ).join('""')


def _write_number(number: float) -> str:
    """Return a number as YAML 1.1 reads it: with a point, if it has an exponent."""
    text = repr(int(number) if float(number).is_integer() and abs(number) < MAX_PLAIN else float(number))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text
