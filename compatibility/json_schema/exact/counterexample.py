"""Construction of a value for an open goal, along its open branches, confirmed by the evaluator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from contractlog.compatibility.json_schema.exact import number_satisfiability, string_satisfiability
from contractlog.compatibility.json_schema.exact.array_satisfiability import ArrayConstraints
from contractlog.compatibility.json_schema.exact.constraints import (
    Goal,
    MinSize,
    NameSet,
    OrderedSet,
    SignedConstraint,
    ValueIn,
)
from contractlog.compatibility.json_schema.exact.evaluator import Evaluator
from contractlog.compatibility.json_schema.exact.json_values import value_key
from contractlog.compatibility.json_schema.exact.object_satisfiability import (
    MemberCase,
    ObjectConstraints,
    RequiredMember,
)
from contractlog.compatibility.json_schema.exact.proof_engine import ProofEngine
from contractlog.compatibility.json_schema.exact.search_branch import Branch

__all__ = ["ValueSearch"]

_MAX_DEPTH: Final = 24
_MAX_BRANCHES: Final = 16
_MAX_CANDIDATES: Final = 6
_MAX_ARRAY_LENGTH: Final = 200
_MAX_ADDED: Final = 200  #: members that an object gets beside the required ones
_ANY_NAME: Final = NameSet(inverted=True)


class ValueSearch:
    """Search for values; whatever ``value`` returns was verified against all signed constraints."""

    def __init__(self, engine: ProofEngine) -> None:
        self._engine = engine
        self._evaluator = Evaluator(engine.step, plain_integers=True)
        self._values: dict[Goal, Any] = {}

    def value(self, signed_constraints: Iterable[SignedConstraint], depth: int = 0) -> list[Any]:
        """Return a list with a value that satisfies all signed constraints, or an empty list."""
        goal = OrderedSet(signed_constraints)
        if goal in self._values:
            return [self._values[goal]]
        if depth > _MAX_DEPTH:
            return []
        for branch in islice(self._engine.satisfiable_branches(goal), _MAX_BRANCHES):
            for value in islice(self.candidate_values(branch, depth), _MAX_CANDIDATES):
                if self.satisfies(value, goal):
                    self._values[goal] = value
                    return [value]
        return []

    def satisfies(self, value: Any, signed_constraints: Iterable[SignedConstraint]) -> bool:
        """Return True if a value certainly satisfies all signed constraints."""
        return all(
            self._evaluator.evaluate(value, constraint) is positive for constraint, positive in signed_constraints
        )

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
                yield from number_satisfiability.candidate_numbers(branch.atoms, self._engine.step)
            case "string":
                text = string_satisfiability.build_string(branch.atoms)
                if isinstance(text, str):
                    yield text
            case "array":
                yield from self.build_arrays(ArrayConstraints(branch.atoms), depth)
            case _:
                yield from self.build_objects(ObjectConstraints.of(branch.atoms), depth)

    def build_arrays(
        self, constraints: ArrayConstraints, depth: int, forced: tuple[int, Any] | None = None
    ) -> Iterator[list[Any]]:
        """Yield arrays of a shape; ``forced`` is a required item with its index."""
        extra: dict[int, list[SignedConstraint]] = {}
        for start, stop, signed_constraint in constraints.somewhere if forced is None else ():
            for index in constraints.starts(start, stop):
                if not self._engine.seems_unsatisfiable(
                    [*constraints.at(index), *extra.get(index, ()), signed_constraint]
                ):
                    extra.setdefault(index, []).append(signed_constraint)
                    break
        for count in constraints.at_least:
            self._require_items(constraints, extra, (count.body, True), count.size)
        length = max([constraints.min_size, *(index + 1 for index in extra), *([forced[0] + 1] if forced else ())])
        if length > _MAX_ARRAY_LENGTH or (constraints.max_size is not None and length > constraints.max_size):
            return
        fewer = [(count.body, False) for count in constraints.fewer]
        for excluded in ([*fewer], []) if fewer else ([],):
            items = self._build_items(constraints, extra, length, excluded, depth, forced)
            if items is not None:
                yield items

    def _require_items(
        self,
        constraints: ArrayConstraints,
        extra: dict[int, list[SignedConstraint]],
        signed_constraint: SignedConstraint,
        count: int,
    ) -> None:
        """Assign a signed constraint to as many items as needed."""
        index, placed = 0, 0
        end = constraints.max_size if constraints.max_size is not None else _MAX_ARRAY_LENGTH
        while placed < count and index < end:
            if not self._engine.seems_unsatisfiable([*constraints.at(index), *extra.get(index, ()), signed_constraint]):
                extra.setdefault(index, []).append(signed_constraint)
                placed += 1
            index += 1

    def _build_items(  # noqa: PLR0917 - one step of ``build_arrays``
        self,
        constraints: ArrayConstraints,
        extra: dict[int, list[SignedConstraint]],
        length: int,
        excluded: list[SignedConstraint],
        depth: int,
        forced: tuple[int, Any] | None,
    ) -> list[Any] | None:
        items: list[Any] = []
        for index in range(length):
            if forced and forced[0] == index:
                items.append(forced[1])
                continue
            if False in constraints.unique and index == 1:
                items.append(items[0])
                continue
            signed_constraints = [*constraints.at(index), *extra.get(index, excluded)]
            if False in constraints.unique and index == 0:
                signed_constraints += constraints.at(1)
            if True in constraints.unique:
                existing = [*items, forced[1]] if forced else items
                signed_constraints.append((ValueIn(OrderedSet(map(value_key, existing))), False))
            item = self.value(signed_constraints, depth + 1)
            if not item:
                return None
            items += item
        return items

    def build_objects(
        self, contents: ObjectConstraints, depth: int, forced: tuple[MemberCase, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield objects with some contents; ``forced`` is a required member with its value."""
        if contents.min_size > len(contents.required) + _MAX_ADDED:
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

    def _cases(self, contents: ObjectConstraints, member: RequiredMember) -> Iterator[MemberCase]:
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
            name_constraints = [*case.name_constraints, (existing_names, False)]
            names = self.value([*name_constraints, (MinSize("string", 1), True)]) or self.value(name_constraints)
            if not names:
                return False
            name = names[0]
        members[name] = value[0]
        return True
