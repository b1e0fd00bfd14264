"""Application of lint rules to a schema."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from contractlog.compatibility.avro.parser import parse_avro
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_positions import add_position, locate_pointers
from contractlog.compatibility.json_schema.parser import parse_json_schema
from contractlog.compatibility.limits import truncate_message
from contractlog.compatibility.lint.avro_document import AvroDocument, walk_types
from contractlog.compatibility.lint.avro_rules import AVRO_LINT_RULES
from contractlog.compatibility.lint.json_document import JsonDocument, SchemaVisit, walk_schemas
from contractlog.compatibility.lint.json_rules import ANY_SCHEMA, JSON_LINT_RULES, ROOT_SCHEMA
from contractlog.compatibility.lint.rule import LintFinding, LintRule, Problem
from contractlog.compatibility.schema import SchemaType

__all__ = ["DEFAULT_RULES", "LINT_RULES", "lint_schema"]

_Nodes = Iterator[tuple[Any, Any]]  #: (kind, node)


def _parse_avro_nodes(text: str, subject: str) -> tuple[AvroDocument, _Nodes]:
    schema, _ = parse_avro(text, {}, strict=True, partial=True)
    nodes = ((type(node), node) for node in walk_types(schema))
    return AvroDocument(schema, subject), chain([(type(schema), schema)], nodes)


def _parse_json_nodes(text: str, subject: str) -> tuple[JsonDocument, _Nodes]:
    schema = parse_json_schema(text, {})
    visits = list(walk_schemas(schema.value))
    root = [(ROOT_SCHEMA, visits[0])] if visits else []
    return JsonDocument(schema, subject, text, visits), chain(root, chain.from_iterable(map(_list_kinds, visits)))


def _list_kinds(visit: SchemaVisit) -> _Nodes:
    yield ANY_SCHEMA, visit
    yield from ((keyword, visit) for keyword in visit.value)


@dataclass(frozen=True, slots=True)
class _FormatRules:
    """The rules of a format, and its way from a schema text to the nodes that they check."""

    rules: tuple[LintRule, ...]
    parse: Callable[[str, str], tuple[Any, _Nodes]]
    allows_comments: bool = False

    def find_problems(self, text: str, subject: str, rules: Collection[LintRule]) -> Iterator[tuple[LintRule, Problem]]:
        """Yield the problems of a schema; a rule sees the nodes of its kinds."""
        by_kind: dict[Hashable, list[LintRule]] = defaultdict(list)
        for rule in rules:
            for kind in rule.visits:
                by_kind[kind].append(rule)
        document, nodes = self.parse(text, subject)
        for kind, node in chain([(str, text)], nodes):
            for rule in by_kind.get(kind, ()):
                for problem in rule.check(document, node):
                    yield rule, problem


_FORMATS: Final = {
    SchemaType.AVRO: _FormatRules(AVRO_LINT_RULES, _parse_avro_nodes, allows_comments=True),
    SchemaType.JSON: _FormatRules(JSON_LINT_RULES, _parse_json_nodes),
}
#: every rule by its id
LINT_RULES: Final = {rule.id: rule for entry in _FORMATS.values() for rule in entry.rules}
DEFAULT_RULES: Final = tuple(rule for rule in LINT_RULES.values() if not rule.of_folder)


def lint_schema(
    text: str, kind: SchemaType, subject: str = "", rules: Collection[LintRule] = DEFAULT_RULES
) -> list[LintFinding]:
    """Return the findings of rules in a schema, in the order of the text.

    Args:
        text: the schema; types and documents that it refers to may be missing.
        kind: its format; a format without rules has no findings.
        subject: its subject; rules for keys apply if it ends in ``-key``.
        rules: the rules to apply, with the severities for the findings; those of other formats are skipped.

    Raises:
        InvalidSchema: not a valid schema; with line and column if known.
    """
    entry = _FORMATS.get(kind)
    if entry is None:
        return []
    selected = {rule.id: rule for rule in rules}  # of the same checks, whose severities the caller may have changed
    try:
        in_order = [selected[rule.id] for rule in entry.rules if rule.id in selected]
        problems = list(entry.find_problems(text, subject, in_order))
    except InvalidSchema as error:
        raise add_position(error, text, comments=entry.allows_comments) from None
    positions = locate_pointers(text, [problem.at for _, problem in problems]) if problems else []
    findings = [
        LintFinding(rule, problem.at, position, truncate_message(problem.message), problem.changes)
        for (rule, problem), position in zip(problems, positions, strict=True)
    ]
    return sorted(findings, key=lambda finding: finding.position)
