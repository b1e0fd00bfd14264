"""Evaluation of constraints on values, with the results True, False and None (unknown)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from contractlog.compatibility.json_schema.exact.constraints import (
    Conjunction,
    Constraint,
    ContainsItems,
    Disjunction,
    ExactlyOne,
    HasMember,
    IntegerNotation,
    ItemValues,
    MatchesPattern,
    MaxSize,
    MemberNames,
    MemberValues,
    MinSize,
    MultipleOf,
    NameSet,
    Negation,
    NumericLimit,
    SchemaConstraint,
    TypeIn,
    UniqueItems,
    ValueIn,
)
from contractlog.compatibility.json_schema.exact.json_values import json_type, value_key
from contractlog.compatibility.json_schema.exact.regex_compiler import compile_pattern

__all__ = ["Evaluator"]

_MATCH_STEPS: Final = 16  #: cost of matching one pattern, beside the states visited


def _conjunction(truths: Iterable[bool | None]) -> bool | None:
    is_decided = True
    for truth in truths:
        if truth is False:
            return False
        is_decided = is_decided and truth is not None
    return True if is_decided else None


def _negation(truth: bool | None) -> bool | None:  # noqa: FBT001 - a result, not an option
    return None if truth is None else not truth


def _disjunction(truths: Iterable[bool | None]) -> bool | None:
    return _negation(_conjunction(map(_negation, truths)))


class Evaluator:
    """Evaluator of constraints on values; every evaluation costs steps."""

    def __init__(self, step: Callable[[int], None], *, plain_integers: bool = False) -> None:
        """Create an evaluator.

        Args:
            step: called for every evaluation, with its additional cost.
            plain_integers: assume that whole numbers are written without fraction; otherwise their notation is unknown.
        """
        self._step = step
        self._plain_integers = plain_integers
        self._open: set[tuple[bytes, int]] = set()  #: open pairs of schema and value, to detect circular references

    def match(self, pattern: str, text: str) -> bool | None:
        """Return whether a pattern is found in a string; None if that cannot be decided in time."""
        automaton = compile_pattern(pattern)
        if automaton is None:
            return None
        matches, visits = automaton.match(text)
        self._step(_MATCH_STEPS + visits)
        return matches

    def contains_name(self, names: NameSet, name: str) -> bool | None:
        """Return whether a name is in a set; None if a pattern cannot be matched."""
        if name in names.names:
            return not names.inverted
        unknown = False
        for pattern in names.patterns:
            matches = self.match(pattern, name)
            if matches:
                return not names.inverted
            unknown = unknown or matches is None
        return None if unknown else names.inverted

    def evaluate(self, value: Any, constraint: Constraint) -> bool | None:  # noqa: PLR0911 - one for each combination
        """Return whether the value satisfies the constraint; None if unknown."""
        self._step(0)
        match constraint:
            case SchemaConstraint():
                return self._evaluate_schema(value, constraint)
            case Conjunction():
                return _conjunction(self.evaluate(value, part) for part in constraint.parts)
            case Disjunction():
                return _disjunction(self.evaluate(value, part) for part in constraint.parts)
            case ExactlyOne():
                return self._evaluate_exactly_one(value, constraint)
            case Negation():
                return _negation(self.evaluate(value, constraint.body))
            case TypeIn():
                is_integer = json_type(value) == "number" and value.denominator == 1
                return json_type(value) in constraint.names or (is_integer and "integer" in constraint.names)
            case ValueIn():
                return value_key(value) in constraint.keys
            case _:
                return self._evaluate_atom(value, constraint)

    def _evaluate_schema(self, value: Any, schema: SchemaConstraint) -> bool | None:
        key = (schema.digest, id(value))
        if key in self._open:
            return None
        self._open.add(key)
        try:
            return _conjunction(self.evaluate(value, part.constraint) for part in schema.parts)
        finally:
            self._open.discard(key)

    def _evaluate_exactly_one(self, value: Any, constraint: ExactlyOne) -> bool | None:
        truths = [self.evaluate(value, part) for part in constraint.parts]
        if truths.count(True) > 1:
            return False
        if None in truths:
            return None
        return truths.count(True) == 1

    def _evaluate_atom(self, value: Any, constraint: Constraint) -> bool | None:  # noqa: PLR0911 - one for each type
        kind = getattr(constraint, "kind", None)
        if kind is not None and kind != json_type(value):
            return True
        match kind:
            case "number" if isinstance(constraint, IntegerNotation):
                return False if value.denominator != 1 else self._plain_integers or None
            case "number":
                return _evaluate_number(value, constraint)
            case "string" | "array" | "object" if isinstance(constraint, (MinSize, MaxSize)):
                size = len(value)
                return size >= constraint.size if isinstance(constraint, MinSize) else size <= constraint.size
            case "string" if isinstance(constraint, MatchesPattern):
                return self.match(constraint.text, value)
            case "array":
                return self._evaluate_array(value, constraint)
            case "object":
                return self._evaluate_object(value, constraint)
            case _:
                return None

    def _evaluate_array(self, value: list[Any], constraint: Constraint) -> bool | None:
        match constraint:
            case ItemValues():
                return _conjunction(
                    self.evaluate(item, constraint.body) for item in value[constraint.start : constraint.stop]
                )
            case ContainsItems():
                truths = [self.evaluate(item, constraint.body) for item in value]
                if truths.count(True) >= constraint.size:
                    return True
                return None if len(truths) - truths.count(False) >= constraint.size else False
            case UniqueItems():
                return len({value_key(item) for item in value}) == len(value)
            case _:
                return None

    def _evaluate_object(self, value: dict[str, Any], constraint: Constraint) -> bool | None:
        match constraint:
            case HasMember():
                return constraint.name in value
            case MemberValues():
                return _conjunction(
                    self._evaluate_member(value, name, constraint)
                    for name in self._candidate_names(constraint.names, value)
                )
            case MemberNames():
                return _conjunction(self.evaluate(name, constraint.body) for name in value)
            case _:
                return None

    def _evaluate_member(self, value: dict[str, Any], name: str, constraint: MemberValues) -> bool | None:
        truth = self.evaluate(value[name], constraint.body)
        return truth or _disjunction((_negation(self.contains_name(constraint.names, name)), truth))

    def _candidate_names(self, names: NameSet, value: dict[str, Any]) -> Iterable[str]:
        """Return the names of members that may be in a set; for a single name by lookup."""
        if names.patterns:
            return [name for name in value if self.contains_name(names, name) is not False]
        if names.inverted:
            return [name for name in value if name not in names.names]
        return [
            name for name in (value if len(names.names) > 1 else names.names) if name in names.names and name in value
        ]


def _evaluate_number(value: Any, constraint: Constraint) -> bool | None:
    match constraint:
        case NumericLimit():
            if value == constraint.limit:
                return not constraint.open
            return (value < constraint.limit) is constraint.upper
        case MultipleOf():
            multiple: bool = (value / constraint.step).denominator == 1
            return multiple
        case _:
            return None
