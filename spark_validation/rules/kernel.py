"""Kernels: rule expressions compiled to operations on the columns of a batch.

A kernel has the result of the function that ``contracts/rules`` compiles from the same tree, for each record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from contractlog.contracts.rules.evaluation.function_generator import compile_typed
from contractlog.contracts.rules.language.expressions import (
    Conditional,
    Expression,
    FunctionCall,
    Identifier,
    ListExpression,
    Literal,
    Select,
    walk_expression,
)
from contractlog.contracts.rules.language.type_checker import TypedExpression
from contractlog.contracts.rules.language.value_types import NULL, NUMBERS, ValueKind, ValueType
from contractlog.contracts.rules.rule_errors import RuleEvaluationError
from contractlog.spark_validation.rules import vector_functions, vector_operators
from contractlog.spark_validation.rules.record_columns import COLUMN_KINDS, FieldPath, RecordColumns
from contractlog.spark_validation.rules.vector_operators import ARITHMETIC_KINDS
from contractlog.spark_validation.rules.vectors import Mask, NotColumnar, Vector, join_masks

__all__ = ["Kernel", "compile_kernel"]

_K = ValueKind
_Run: TypeAlias = Callable[[RecordColumns], Vector]
_COMPARISONS: Final = frozenset({"_<_", "_<=_", "_>_", "_>=_"})
_ARITHMETIC: Final = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_", "-_"})
_TEXTS: Final = frozenset({_K.STRING, _K.BYTES})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_AMBIGUOUS: Final = frozenset(".[]{}")  #: characters that a path has between the names of fields
_FOLDED: Final = frozenset({"timestamp"})  #: functions that are evaluated once if their arguments are constants


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled condition."""

    run: _Run

    def evaluate(self, columns: RecordColumns) -> tuple[Mask, Mask]:
        """Return the records in which the condition is true, and those in which it fails.

        Raises:
            NotColumnar: these columns cannot have the result.
        """
        vector = self.run(columns)
        failed = _spread(np.False_ if vector.errors is None else vector.errors, columns.size)
        true = vector.values & ~failed
        return _spread(true if vector.nulls is None else true & ~vector.nulls, columns.size), failed


def _spread(mask: Any, size: int) -> Mask:
    return np.broadcast_to(np.asarray(mask, np.bool_), (size,))


def compile_kernel(
    typed: TypedExpression, *, root: str, constants: Mapping[str, Any] | None = None, optional: bool = False
) -> Kernel:
    """Compile a condition to a kernel.

    Args:
        typed: the condition with its types.
        root: the variable whose fields are columns, or that is the column itself.
        constants: the values of other variables.
        optional: whether records may lack fields, as in JSON.

    Raises:
        NotColumnar: the condition has operations that kernels do not have.
    """
    if typed.type.kind is not _K.BOOL:
        raise NotColumnar("the result may be of any type")
    return Kernel(_KernelCompiler(typed, root, constants or {}, optional=optional).compile(typed.root))


@dataclass(frozen=True, slots=True)
class _Location:
    """A variable or a field below it."""

    path: str
    type: ValueType
    ancestors: tuple[str, ...]  #: paths of the records around it that may be null
    records: tuple[int, ...]  #: identities of the records around it


class _KernelCompiler:
    def __init__(self, typed: TypedExpression, root: str, constants: Mapping[str, Any], *, optional: bool) -> None:
        self._types = typed.types
        self._root = root
        self._constants = constants
        self._optional = optional
        self._calculates = any(
            isinstance(node, FunctionCall) and node.function in _ARITHMETIC for node in walk_expression(typed.root)
        )

    def compile(self, node: Expression) -> _Run:
        """Compile a node."""
        match node:
            case Literal():
                return self._constant(node.value)
            case Identifier(name=name) if name in self._constants:
                return self._constant(self._constants[name])
            case Identifier() | Select(test_only=False):
                return self._read(node)
            case Select():
                return self._test_presence(node)
            case Conditional():
                return self._conditional(node)
            case FunctionCall():
                return self._call(node)
        raise NotColumnar(f"kernels have no {type(node).__name__}")

    def _kind(self, node: Expression) -> ValueKind:
        return self._types[id(node)].kind

    @staticmethod
    def _constant(value: Any) -> _Run:
        match value:
            case bool():
                vector = Vector(np.bool_(value))
            case float():
                vector = Vector(np.float64(value))
            case datetime():
                elapsed = value - _EPOCH
                vector = Vector(np.int64((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds))
            case str() | bytes():
                vector = Vector(pa.scalar(value))
            case int() if type(value) is int:
                vector = Vector(np.int64(value))
            case _:
                raise NotColumnar(f"kernels have no constants of {type(value).__name__}")
        return lambda _: vector

    def _locate(self, node: Expression) -> _Location:
        """Return the location of a variable or a chain of fields."""
        if isinstance(node, Identifier) and node.name == self._root:
            return _Location("", self._types[id(node)], (), ())
        if not isinstance(node, Select) or node.test_only:
            raise NotColumnar("the value is not that of a field")
        around = self._locate(node.operand)
        fields = around.type.fields
        if around.type.kind is not _K.RECORD or fields is None or node.field not in fields.by_name:
            raise NotColumnar("the field is not one of a record")
        if id(fields) in around.records or not _AMBIGUOUS.isdisjoint(node.field):
            raise NotColumnar("the path of the field may be that of another one")
        path = f"{around.path}.{node.field}" if around.path else node.field
        ancestors = (*around.ancestors, around.path) if around.type.nullable else around.ancestors
        return _Location(path, self._types[id(node)], ancestors, (*around.records, id(fields)))

    def _read(self, node: Expression) -> _Run:
        located = self._locate(node)
        of = located.type
        if of.kind not in COLUMN_KINDS or of.conversion == "uuid":
            raise NotColumnar(f"kernels have no values of type {of}")
        field = FieldPath(located.path, of.kind, located.ancestors, of.conversion == "date")
        whole_numbers = self._optional and not self._calculates
        return lambda columns: columns.read(field, whole_numbers=whole_numbers)

    def _test_presence(self, node: Select) -> _Run:
        around = self._locate(node.operand)
        if around.type.kind is not _K.RECORD:
            raise NotColumnar("the operand of has() is not a record")
        if not self._optional:
            ancestors = (*around.ancestors, around.path) if around.type.nullable else around.ancestors
            return lambda columns: Vector(np.True_, join_masks(*map(columns.find_nulls, ancestors)))
        fields = around.type.fields
        of = None if fields is None else fields.by_name.get(node.field)
        if around.path or of is None or of.kind not in COLUMN_KINDS or not _AMBIGUOUS.isdisjoint(node.field):
            raise NotColumnar("whether a record is present is not in its columns")
        name = node.field

        def test(columns: RecordColumns) -> Vector:
            absent = columns.find_absent(name, ())
            return Vector(np.True_ if absent is None else ~absent)

        return test

    def _conditional(self, node: Conditional) -> _Run:
        kind = self._kind(node)
        parts = (node.consequence, node.alternative)
        if kind not in COLUMN_KINDS or {self._kind(part) for part in parts} != {kind}:
            raise NotColumnar("the alternatives are of several types")
        condition, consequence, alternative = map(self.compile, node.children)
        return lambda columns: vector_operators.choose(
            condition(columns), consequence(columns), alternative(columns), kind
        )

    def _call(self, node: FunctionCall) -> _Run:  # noqa: PLR0911 -- one for each kind of operator
        name = node.function
        if name in {"_&&_", "_||_"}:
            operands = list(map(self._compile_bool, node.arguments))
            combine = vector_operators.and_vectors if name == "_&&_" else vector_operators.or_vectors
            return lambda columns: combine([operand(columns) for operand in operands])
        if name == "!_":
            operand = self._compile_bool(node.arguments[0])
            return lambda columns: vector_operators.negate_bool(operand(columns))
        if name in {"_==_", "_!=_"}:
            return self._equality(node)
        if name in _COMPARISONS:
            return self._comparison(node)
        if name == "_in_":
            return self._membership(node)
        if name in _ARITHMETIC:
            return self._arithmetic(node)
        return self._function(node)

    def _compile_bool(self, node: Expression) -> _Run:
        if self._kind(node) is not _K.BOOL:
            raise NotColumnar("an operand may be of any type")
        return self.compile(node)

    def _equality(self, node: FunctionCall) -> _Run:
        left, right = node.arguments
        negated = node.function == "_!=_"
        for value, other in ((left, right), (right, left)):
            if isinstance(other, Literal) and other.value is None:
                return self._null_test(value, negated=negated)
        kinds = self._comparable_kinds(left, right)
        first, second = self.compile(left), self.compile(right)
        return lambda columns: vector_operators.equal(first(columns), second(columns), kinds, negated=negated)

    def _null_test(self, node: Expression, *, negated: bool) -> _Run:
        if self._kind(node) is _K.RECORD and not self._optional:
            located = self._locate(node)
            own, ancestors = located.path, located.ancestors

            def test_record(columns: RecordColumns) -> Vector:
                nulls = columns.find_nulls(own) if located.type.nullable else np.zeros(columns.size, np.bool_)
                return Vector(~nulls if negated else nulls, join_masks(*map(columns.find_nulls, ancestors)))

            return test_record
        if self._types[id(node)] == NULL:
            raise NotColumnar("kernels have no values of type null")
        operand = self.compile(node)

        def test(columns: RecordColumns) -> Vector:
            vector = operand(columns)
            nulls = np.False_ if vector.nulls is None else vector.nulls
            return Vector(~nulls if negated else nulls, vector.errors)

        return test

    def _comparable_kinds(self, left: Expression, right: Expression) -> tuple[ValueKind, ValueKind]:
        kinds = self._kind(left), self._kind(right)
        if not {*kinds} <= COLUMN_KINDS or (kinds[0] is not kinds[1] and not {*kinds} <= NUMBERS):
            raise NotColumnar("the operands are of other types")
        return kinds

    def _comparison(self, node: FunctionCall) -> _Run:
        kinds = self._comparable_kinds(*node.arguments)
        left, right = map(self.compile, node.arguments)
        return lambda columns: vector_operators.compare(node.function, left(columns), right(columns), kinds)

    def _membership(self, node: FunctionCall) -> _Run:
        value, container = node.arguments
        kind = self._kind(value)
        if not isinstance(container, ListExpression) or kind not in {_K.STRING, _K.INT}:
            raise NotColumnar("kernels have 'in' only for lists of constants")
        members = [item.value for item in container.items if isinstance(item, Literal)]
        if len(members) != len(container.items) or any(self._kind(item) is not kind for item in container.items):
            raise NotColumnar("the list has other items than constants of the same type")
        operand = self.compile(value)
        return lambda columns: vector_operators.is_member(operand(columns), members, kind)

    def _arithmetic(self, node: FunctionCall) -> _Run:
        kind = self._kind(node.arguments[0])
        if any(self._kind(argument) is not kind for argument in node.arguments):
            raise NotColumnar("the operands are of other types")
        operands = list(map(self.compile, node.arguments))
        if node.function == "-_" and kind in {_K.INT, _K.DOUBLE}:
            return lambda columns: vector_operators.negate(operands[0](columns), kind)
        if node.function == "_+_" and kind in _TEXTS:
            return lambda columns: vector_functions.concatenate(operands[0](columns), operands[1](columns), kind)
        if (node.function, kind) not in ARITHMETIC_KINDS:
            raise NotColumnar(f"kernels have no {node.function} of {kind}")
        return lambda columns: vector_operators.calculate(
            node.function, operands[0](columns), operands[1](columns), kind
        )

    def _function(self, node: FunctionCall) -> _Run:
        name, arguments = node.function, node.children
        if name in _FOLDED and all(isinstance(argument, Literal) for argument in arguments):
            return self._constant(self._fold(node))
        kind = self._kind(arguments[0]) if arguments else None
        if name == "size" and kind in _TEXTS and kind is not None:
            operand = self.compile(arguments[0])
            return lambda columns: vector_functions.measure(operand(columns), kind)
        if name in vector_functions.TEXT_TESTS and kind is _K.STRING and isinstance(arguments[1], Literal):
            text, argument = self.compile(arguments[0]), str(arguments[1].value)
            return lambda columns: vector_functions.test_text(name, text(columns), argument)
        if kind is not None and (name, kind) in vector_functions.CONVERSIONS:
            operand = self.compile(arguments[0])
            return lambda columns: vector_functions.convert(name, operand(columns), kind)
        raise NotColumnar(f"kernels have no {name}()")

    def _fold(self, node: FunctionCall) -> Any:
        try:
            return compile_typed(TypedExpression(node, self._types))({})
        except RuleEvaluationError:
            raise NotColumnar("a constant fails") from None
