"""Construction of a value for an open goal, along its open branches, confirmed by the evaluator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from contractlog.compatibility.json_schema.exact import numbers, strings
from contractlog.compatibility.json_schema.exact.arrays import Shape
from contractlog.compatibility.json_schema.exact.branch import Branch
from contractlog.compatibility.json_schema.exact.demands import AtLeast, Goal, Literal, NameSet, Values
from contractlog.compatibility.json_schema.exact.engine import Engine
from contractlog.compatibility.json_schema.exact.evaluate import Evaluator
from contractlog.compatibility.json_schema.exact.objects import Case, Contents, Sought
from contractlog.compatibility.json_schema.exact.values import key_of

__all__ = ["Witness"]

_MAX_DEPTH: Final = 24
_MAX_BRANCHES: Final = 16
_MAX_TRIED: Final = 6
_LONGEST_ARRAY: Final = 200
_MOST_ADDED: Final = 200  #: members that an object gets beside the required ones
_ANY_NAME: Final = NameSet(inverted=True)


class Witness:
    """Search for values; whatever ``value`` returns was verified against all literals."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._evaluator = Evaluator(engine.step, whole=True)
        self._known: dict[Goal, Any] = {}

    def value(self, literals: Iterable[Literal], depth: int = 0) -> list[Any]:
        """Return a list with a value that satisfies all literals, or an empty list."""
        goal = frozenset(literals)
        if goal in self._known:
            return [self._known[goal]]
        if depth > _MAX_DEPTH:
            return []
        for branch in islice(self._engine.open_branches(goal), _MAX_BRANCHES):
            for value in islice(self.fillings(branch, depth), _MAX_TRIED):
                if self.holds(value, goal):
                    self._known[goal] = value
                    return [value]
        return []

    def holds(self, value: Any, literals: Iterable[Literal]) -> bool:
        """Return True if a value certainly satisfies all literals."""
        return all(self._evaluator.meets(value, demand) is wanted for demand, wanted in literals)

    def fillings(self, branch: Branch, depth: int) -> Iterator[Any]:
        """Yield candidate values for a branch; they need not satisfy it."""
        if branch.value:
            yield branch.value[0]
            return
        match branch.kind:
            case "null":
                yield None
            case "boolean":
                yield from (True, False)
            case "number":
                yield from numbers.candidates(branch.atoms)
            case "string":
                found = strings.text_for(branch.atoms)
                if isinstance(found, str):
                    yield found
            case "array":
                yield from self.arrays(Shape(branch.atoms), depth)
            case _:
                yield from self.objects(Contents.of(branch.atoms), depth)

    def arrays(self, shape: Shape, depth: int, forced: tuple[int, Any] | None = None) -> Iterator[list[Any]]:
        """Yield arrays of a shape; ``forced`` is a required item with its index."""
        extra: dict[int, list[Literal]] = {}
        for start, stop, literal in shape.somewhere if forced is None else ():
            for index in shape.starts(start, stop):
                if not self._engine.asks([*shape.at(index), *extra.get(index, ()), literal]):
                    extra.setdefault(index, []).append(literal)
                    break
        for count in shape.at_least:
            self._spread(shape, extra, (count.body, True), count.size)
        least = max([shape.least, *(index + 1 for index in extra), *([forced[0] + 1] if forced else ())])
        if least > _LONGEST_ARRAY or (shape.most is not None and least > shape.most):
            return
        fewer = [(count.body, False) for count in shape.fewer]
        for apart in ([*fewer], []) if fewer else ([],):
            made = self._items(shape, extra, least, apart, depth, forced)
            if made is not None:
                yield made

    def _spread(self, shape: Shape, extra: dict[int, list[Literal]], literal: Literal, count: int) -> None:
        """Assign a literal to as many items as needed."""
        index, placed = 0, 0
        end = shape.most if shape.most is not None else _LONGEST_ARRAY
        while placed < count and index < end:
            if not self._engine.asks([*shape.at(index), *extra.get(index, ()), literal]):
                extra.setdefault(index, []).append(literal)
                placed += 1
            index += 1

    def _items(  # noqa: PLR0917 - one step of ``arrays``
        self,
        shape: Shape,
        extra: dict[int, list[Literal]],
        length: int,
        apart: list[Literal],
        depth: int,
        forced: tuple[int, Any] | None,
    ) -> list[Any] | None:
        made: list[Any] = []
        for index in range(length):
            if forced and forced[0] == index:
                made.append(forced[1])
                continue
            if False in shape.unique and index == 1:
                made.append(made[0])
                continue
            wanted = [*shape.at(index), *extra.get(index, apart)]
            if False in shape.unique and index == 0:
                wanted += shape.at(1)
            if True in shape.unique:
                others = [*made, forced[1]] if forced else made
                wanted.append((Values(frozenset(map(key_of, others))), False))
            found = self.value(wanted, depth + 1)
            if not found:
                return None
            made += found
        return made

    def objects(
        self, contents: Contents, depth: int, forced: tuple[Case, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield objects with some contents; ``forced`` is a required member with its value."""
        if contents.least > len(contents.required) + _MOST_ADDED:
            return
        made: dict[str, Any] = {}
        if forced and not self._put(made, forced[0], [forced[1]]):
            return
        for name in contents.required:
            if name not in made and not self._fill(made, Case(name, (), tuple(contents.at(name))), depth):
                return
        for sought in contents.sought if forced is None else ():
            if not any(self._fill(made, case, depth) for case in self._cases(contents, sought)):
                return
        for case in self._cases(contents, Sought(_ANY_NAME)):
            while len(made) < contents.least and self._fill(made, case, depth, fresh=True) and case.name is None:
                pass
        yield made

    def _cases(self, contents: Contents, sought: Sought) -> Iterator[Case]:
        return contents.cases(sought, self._engine.evaluator)

    def _fill(self, made: dict[str, Any], case: Case, depth: int, *, fresh: bool = False) -> bool:
        """Add a member, or replace an existing one unless ``fresh``."""
        if case.name in made and fresh:
            return False
        return self._put(made, case, self.value(case.value, depth + 1))

    def _put(self, made: dict[str, Any], case: Case, found: list[Any]) -> bool:
        name = case.name
        if not found:
            return False
        if name is None:
            taken = Values(frozenset(("string", one) for one in made))
            wanted = [*case.naming, (taken, False)]
            names = self.value([*wanted, (AtLeast("string", 1), True)]) or self.value(wanted)
            if not names:
                return False
            name = names[0]
        made[name] = found[0]
        return True
