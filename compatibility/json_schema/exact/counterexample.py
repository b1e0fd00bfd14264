"""Construction of a value for an open goal, along its open branches, confirmed by the evaluator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from contractlog.compatibility.json_schema.exact import numbers, strings
from contractlog.compatibility.json_schema.exact.arrays import ArrayDemands
from contractlog.compatibility.json_schema.exact.branch import Branch
from contractlog.compatibility.json_schema.exact.demands import Goal, Literal, MinSize, NameSet, OrderedSet, ValueIn
from contractlog.compatibility.json_schema.exact.engine import ProofEngine
from contractlog.compatibility.json_schema.exact.evaluator import Evaluator
from contractlog.compatibility.json_schema.exact.json_values import value_key
from contractlog.compatibility.json_schema.exact.objects import MemberCase, ObjectDemands, RequiredMember

__all__ = ["ValueSearch"]

_MAX_DEPTH: Final = 24
_MAX_BRANCHES: Final = 16
_MAX_CANDIDATES: Final = 6
_MAX_ARRAY_LENGTH: Final = 200
_MOST_ADDED: Final = 200  #: members that an object gets beside the required ones
_ANY_NAME: Final = NameSet(inverted=True)


class ValueSearch:
    """Search for values; whatever ``value`` returns was verified against all literals."""

    def __init__(self, engine: ProofEngine) -> None:
        self._engine = engine
        self._evaluator = Evaluator(engine.step, plain_integers=True)
        self._found: dict[Goal, Any] = {}

    def value(self, literals: Iterable[Literal], depth: int = 0) -> list[Any]:
        """Return a list with a value that satisfies all literals, or an empty list."""
        goal = OrderedSet(literals)
        if goal in self._found:
            return [self._found[goal]]
        if depth > _MAX_DEPTH:
            return []
        for branch in islice(self._engine.open_branches(goal), _MAX_BRANCHES):
            for value in islice(self.candidate_values(branch, depth), _MAX_CANDIDATES):
                if self.satisfies(value, goal):
                    self._found[goal] = value
                    return [value]
        return []

    def satisfies(self, value: Any, literals: Iterable[Literal]) -> bool:
        """Return True if a value certainly satisfies all literals."""
        return all(self._evaluator.evaluate(value, demand) is wanted for demand, wanted in literals)

    def candidate_values(self, branch: Branch, depth: int) -> Iterator[Any]:
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
                yield from numbers.candidate_numbers(branch.atoms, self._engine.step)
            case "string":
                text = strings.build_string(branch.atoms)
                if isinstance(text, str):
                    yield text
            case "array":
                yield from self.build_arrays(ArrayDemands(branch.atoms), depth)
            case _:
                yield from self.build_objects(ObjectDemands.of(branch.atoms), depth)

    def build_arrays(
        self, demands: ArrayDemands, depth: int, forced: tuple[int, Any] | None = None
    ) -> Iterator[list[Any]]:
        """Yield arrays of a shape; ``forced`` is a required item with its index."""
        extra: dict[int, list[Literal]] = {}
        for start, stop, literal in demands.somewhere if forced is None else ():
            for index in demands.starts(start, stop):
                if not self._engine.seems_closed([*demands.at(index), *extra.get(index, ()), literal]):
                    extra.setdefault(index, []).append(literal)
                    break
        for count in demands.at_least:
            self._require_items(demands, extra, (count.body, True), count.size)
        length = max([demands.min_size, *(index + 1 for index in extra), *([forced[0] + 1] if forced else ())])
        if length > _MAX_ARRAY_LENGTH or (demands.max_size is not None and length > demands.max_size):
            return
        fewer = [(count.body, False) for count in demands.fewer]
        for excluded in ([*fewer], []) if fewer else ([],):
            items = self._build_items(demands, extra, length, excluded, depth, forced)
            if items is not None:
                yield items

    def _require_items(
        self, demands: ArrayDemands, extra: dict[int, list[Literal]], literal: Literal, count: int
    ) -> None:
        """Assign a literal to as many items as needed."""
        index, placed = 0, 0
        end = demands.max_size if demands.max_size is not None else _MAX_ARRAY_LENGTH
        while placed < count and index < end:
            if not self._engine.seems_closed([*demands.at(index), *extra.get(index, ()), literal]):
                extra.setdefault(index, []).append(literal)
                placed += 1
            index += 1

    def _build_items(  # noqa: PLR0917 - one step of ``build_arrays``
        self,
        demands: ArrayDemands,
        extra: dict[int, list[Literal]],
        length: int,
        excluded: list[Literal],
        depth: int,
        forced: tuple[int, Any] | None,
    ) -> list[Any] | None:
        items: list[Any] = []
        for index in range(length):
            if forced and forced[0] == index:
                items.append(forced[1])
                continue
            if False in demands.unique and index == 1:
                items.append(items[0])
                continue
            literals = [*demands.at(index), *extra.get(index, excluded)]
            if False in demands.unique and index == 0:
                literals += demands.at(1)
            if True in demands.unique:
                existing = [*items, forced[1]] if forced else items
                literals.append((ValueIn(OrderedSet(map(value_key, existing))), False))
            item = self.value(literals, depth + 1)
            if not item:
                return None
            items += item
        return items

    def build_objects(
        self, contents: ObjectDemands, depth: int, forced: tuple[MemberCase, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield objects with some contents; ``forced`` is a required member with its value."""
        if contents.min_size > len(contents.required) + _MOST_ADDED:
            return
        members: dict[str, Any] = {}
        if forced and not self._add_member(members, forced[0], [forced[1]]):
            return
        for name in contents.required:
            if name not in members and not self._add_case(
                members, MemberCase(name, (), tuple(contents.at(name, self._engine.evaluator))), depth
            ):
                return
        for member in contents.required_members if forced is None else ():
            if not any(self._add_case(members, case, depth) for case in self._cases(contents, member)):
                return
        for case in self._cases(contents, RequiredMember(_ANY_NAME)):
            while (
                len(members) < contents.min_size
                and self._add_case(members, case, depth, fresh=True)
                and case.name is None
            ):
                pass
        yield members

    def _cases(self, contents: ObjectDemands, member: RequiredMember) -> Iterator[MemberCase]:
        return contents.cases(member, self._engine.evaluator)

    def _add_case(self, members: dict[str, Any], case: MemberCase, depth: int, *, fresh: bool = False) -> bool:
        """Add a member, or replace an existing one unless ``fresh``."""
        if case.name in members and fresh:
            return False
        return self._add_member(members, case, self.value(case.value, depth + 1))

    def _add_member(self, members: dict[str, Any], case: MemberCase, value: list[Any]) -> bool:
        name = case.name
        if not value:
            return False
        if name is None:
            existing_names = ValueIn(OrderedSet(("string", existing) for existing in members))
            name_demands = [*case.name_demands, (existing_names, False)]
            names = self.value([*name_demands, (MinSize("string", 1), True)]) or self.value(name_demands)
            if not names:
                return False
            name = names[0]
        members[name] = value[0]
        return True
