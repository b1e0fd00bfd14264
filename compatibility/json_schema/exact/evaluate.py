"""Evaluation of demands on values, with the results True, False and None (unknown)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from contractlog.compatibility.json_schema.exact.demands import (
    All,
    AtLeast,
    AtMost,
    Bound,
    Count,
    Demand,
    Elements,
    Has,
    Kinds,
    Lexical,
    Members,
    Multiple,
    Names,
    NameSet,
    Not,
    One,
    Pattern,
    Schema,
    Some,
    Unique,
    Values,
)
from contractlog.compatibility.json_schema.exact.patterns import automaton
from contractlog.compatibility.json_schema.exact.values import key_of, kind_of

__all__ = ["Evaluator", "is_named"]

_MATCH: Final = 16  #: cost of matching one pattern


def is_named(names: NameSet, name: str) -> bool | None:
    """Return whether a name is in a set; None if a pattern is not supported."""
    if name in names.names:
        return not names.inverted
    unknown = False
    for pattern in names.patterns:
        made = automaton(pattern)
        if made is None:
            unknown = True
        elif made.matches(name):
            return not names.inverted
    return None if unknown else names.inverted


def _all(answers: Iterable[bool | None]) -> bool | None:
    known = True
    for answer in answers:
        if answer is False:
            return False
        known = known and answer is not None
    return True if known else None


def _opposite(answer: bool | None) -> bool | None:  # noqa: FBT001 - an answer, not an option
    return None if answer is None else not answer


def _some(answers: Iterable[bool | None]) -> bool | None:
    return _opposite(_all(map(_opposite, answers)))


class Evaluator:
    """Evaluator of demands on values; every evaluation costs steps."""

    def __init__(self, step: Callable[[int], None], *, whole: bool = False) -> None:
        """Create an evaluator.

        Args:
            step: called for every evaluation, with its additional cost.
            whole: assume that whole numbers are written without fraction; otherwise their notation is unknown.
        """
        self._step = step
        self._whole = whole
        self._open: set[tuple[bytes, int]] = set()  #: open pairs of schema and value, to detect circular references

    def match(self, patterns: int) -> None:
        """Charge the matching of a text with patterns."""
        if patterns:
            self._step(_MATCH * patterns)

    def meets(self, value: Any, demand: Demand) -> bool | None:  # noqa: PLR0911 - one for each combination
        """Return whether the value satisfies the demand; None if unknown."""
        self._step(0)
        match demand:
            case Schema():
                return self._schema(value, demand)
            case All():
                return _all(self.meets(value, part) for part in demand.parts)
            case Some():
                return _some(self.meets(value, part) for part in demand.parts)
            case One():
                return self._one(value, demand)
            case Not():
                return _opposite(self.meets(value, demand.body))
            case Kinds():
                whole = kind_of(value) == "number" and value.denominator == 1
                return kind_of(value) in demand.names or (whole and "integer" in demand.names)
            case Values():
                return key_of(value) in demand.keys
            case _:
                return self._atom(value, demand)

    def _schema(self, value: Any, schema: Schema) -> bool | None:
        key = (schema.digest, id(value))
        if key in self._open:
            return None
        self._open.add(key)
        try:
            return _all(self.meets(value, part.demand) for part in schema.parts)
        finally:
            self._open.discard(key)

    def _one(self, value: Any, demand: One) -> bool | None:
        answers = [self.meets(value, part) for part in demand.parts]
        if answers.count(True) > 1:
            return False
        if None in answers:
            return None
        return answers.count(True) == 1

    def _atom(self, value: Any, demand: Demand) -> bool | None:  # noqa: PLR0911 - one for each type
        kind = getattr(demand, "kind", None)
        if kind is not None and kind != kind_of(value):
            return True
        match kind:
            case "number" if isinstance(demand, Lexical):
                return False if value.denominator != 1 else self._whole or None
            case "number":
                return _number(value, demand)
            case "string" | "array" | "object" if isinstance(demand, (AtLeast, AtMost)):
                size = len(value)
                return size >= demand.size if isinstance(demand, AtLeast) else size <= demand.size
            case "string" if isinstance(demand, Pattern):
                made = automaton(demand.text)
                return made.matches(value) if made else None
            case "array":
                return self._array(value, demand)
            case "object":
                return self._object(value, demand)
            case _:
                return None

    def _array(self, value: list[Any], demand: Demand) -> bool | None:
        match demand:
            case Elements():
                return _all(self.meets(item, demand.body) for item in value[demand.start : demand.stop])
            case Count():
                answers = [self.meets(item, demand.body) for item in value]
                if answers.count(True) >= demand.size:
                    return True
                return None if len(answers) - answers.count(False) >= demand.size else False
            case Unique():
                return len({key_of(item) for item in value}) == len(value)
            case _:
                return None

    def _object(self, value: dict[str, Any], demand: Demand) -> bool | None:
        match demand:
            case Has():
                return demand.name in value
            case Members():
                return _all(self._member(value, name, demand) for name in _perhaps_named(demand.names, value))
            case Names():
                return _all(self.meets(name, demand.body) for name in value)
            case _:
                return None

    def _member(self, value: dict[str, Any], name: str, demand: Members) -> bool | None:
        answer = self.meets(value[name], demand.body)
        return answer or _some((_opposite(is_named(demand.names, name)), answer))


def _perhaps_named(names: NameSet, value: dict[str, Any]) -> Iterable[str]:
    """Return the names of members that may be in a set; for a single name by lookup."""
    if names.patterns:
        return [name for name in value if is_named(names, name) is not False]
    if names.inverted:
        return [name for name in value if name not in names.names]
    return [name for name in (value if len(names.names) > 1 else names.names) if name in names.names and name in value]


def _number(value: Any, demand: Demand) -> bool | None:
    match demand:
        case Bound():
            if value == demand.limit:
                return not demand.open
            return (value < demand.limit) is demand.upper
        case Multiple():
            multiple: bool = (value / demand.step).denominator == 1
            return multiple
        case _:
            return None
