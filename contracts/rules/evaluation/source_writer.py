"""Writer of the Python source of one rule, as an expression in a function of the variables.

What takes more than constant time is charged to the budget of the evaluation, a variable of the function. Within
macros, so is the comparison of texts; other operations there are part of the steps of each element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import count
from typing import Any, Final

from contractlog.contracts.rules.evaluation import runtime_values
from contractlog.contracts.rules.evaluation.macros import CAREFUL_MACROS, FAST_MACROS, absorb_and, absorb_or
from contractlog.contracts.rules.evaluation.runtime_values import TypeValue
from contractlog.contracts.rules.functions import operators
from contractlog.contracts.rules.functions.function_table import FUNCTIONS, TYPE_NAMES, RuleFunction
from contractlog.contracts.rules.functions.time_functions import TIMESTAMP_PARTS
from contractlog.contracts.rules.language.expressions import (
    Conditional,
    Expression,
    FunctionCall,
    Identifier,
    Index,
    ListExpression,
    Literal,
    Macro,
    MapExpression,
    Select,
    walk_expression,
)
from contractlog.contracts.rules.language.tokens import MAX_INT, MIN_INT
from contractlog.contracts.rules.language.type_checker import TypedExpression
from contractlog.contracts.rules.language.value_types import NUMBERS, ValueKind, ValueType

__all__ = ["SourceWriter"]

_K = ValueKind
#: Kinds whose values Python compares with ``==`` as CEL does.
_SCALARS: Final = frozenset({_K.STRING, _K.BYTES, _K.BOOL, _K.TIMESTAMP, _K.DURATION}) | NUMBERS
_CONVERSIONS: Final = {"date": runtime_values.convert_date, "uuid": runtime_values.convert_uuid}
_NUMBER_CLASSES: Final = frozenset({int, float})
_LITERAL_CLASSES: Final[Mapping[type, frozenset[type]]] = {
    int: _NUMBER_CLASSES, float: _NUMBER_CLASSES, str: frozenset({str}),
}  # fmt: skip
_NUMBER: Final = re.compile(r"-?[0-9]+")  #: source of an int literal
_FAST_WITH_LITERAL: Final = frozenset({"<", "<=", ">", ">=", "==", "!="})
_TIME_KINDS: Final = frozenset({_K.TIMESTAMP, _K.DURATION})
_READ_WHOLE: Final = frozenset({_K.STRING, _K.BYTES, _K.LIST, _K.DYN})
_CONSTANT_SIZE: Final = NUMBERS | {_K.TIMESTAMP, _K.DURATION}
_TEXTS: Final = frozenset({_K.STRING, _K.BYTES, _K.DYN})
_STEP_NODES: Final = 32  #: nodes of a macro's body that one step may evaluate
_ZONE_NODES: Final = 20 * _STEP_NODES  #: worth of a look for a time zone in the files of the system


class SourceWriter:
    """Source of a rule: its fast form, or with ``careful`` its careful one (``function_generator.py``).

    With ``export``, the result becomes a plain Python value.
    """

    def __init__(
        self, typed: TypedExpression, names: Collection[str], *, careful: bool = False, export: bool = False
    ) -> None:
        self._typed = typed
        self._careful = careful
        self._export = export
        self._uses_budget = False
        self._macros = 0  #: around the node that is written
        self._constants: dict[str, Any] = {}
        self._numbers = count()
        self._scope = {name: f"v{number}" for number, name in enumerate(sorted(names))}

    def compile(self) -> Callable[[Mapping[str, Any]], Any]:
        """Write and compile the function."""
        body = self._write(self._typed.root)
        if self._export:
            body = self._call_budgeted(runtime_values.export_value, body)
        lines = ["def rule(variables):"]
        for name, variable in self._scope.items():
            if name in TYPE_NAMES:
                default = self._constant(TypeValue(name))
                lines.append(f"    {variable} = variables.get({name!r}, {default})")
            else:
                lines.append(f"    {variable} = variables[{name!r}]")
        if self._uses_budget:
            lines.append(f"    budget = {self._call(runtime_values.EvaluationBudget)}")
        lines.append(f"    return {body}")
        namespace = dict(self._constants)
        exec(compile("\n".join(lines), "<rule>", "exec"), namespace)  # noqa: S102 -- no text of the rule is in it
        rule: Callable[[Mapping[str, Any]], Any] = namespace["rule"]
        return rule

    def _constant(self, value: Any) -> str:
        """Pass a value to the function, and return its name there."""
        name = f"c{next(self._numbers)}"
        self._constants[name] = value
        return name

    def _call(self, function: Callable[..., Any], *arguments: str) -> str:
        return f"{self._constant(function)}({', '.join(arguments)})"

    def _call_budgeted(self, function: Callable[..., Any], *arguments: str) -> str:
        self._uses_budget = True
        return self._call(function, "budget", *arguments)

    def _type(self, node: Expression) -> ValueType:
        return self._typed.types[id(node)]

    def _write(self, node: Expression) -> str:  # noqa: PLR0911 -- one for each kind of node
        match node:
            case Literal():
                return (
                    repr(node.value)
                    if node.value is None or node.value.__class__ in {bool, int}
                    else self._constant(node.value)
                )
            case Identifier():
                return self._convert(node, self._scope[node.name])
            case Select():
                return self._select(node)
            case Index():
                return self._index(node)
            case Conditional():
                condition = self._bool(node.condition)
                return f"({self._write(node.consequence)} if {condition} else {self._write(node.alternative)})"
            case ListExpression():
                return f"[{', '.join(map(self._write, node.items))}]"
            case MapExpression():
                entries = (f"({self._write(key)}, {self._write(value)})" for key, value in node.entries)
                return self._call(operators.make_map, *entries)
            case Macro():
                return self._macro(node)
            case FunctionCall():
                return self._operation(node)
        raise TypeError(type(node).__name__)  # pragma: no cover

    def _convert(self, node: Expression, source: str) -> str:
        """Wrap a value that is read from data, if CEL reads it as another one."""
        value_type = self._type(node)
        if value_type.conversion:
            return self._call(_CONVERSIONS[value_type.conversion], source)
        return self._call(runtime_values.import_value, source) if value_type.kind is _K.DYN else source

    def _bool(self, node: Expression) -> str:
        """Write an operand that must be a bool, checked unless an operator makes it."""
        source = self._write(node)
        makes_bool = (isinstance(node, FunctionCall) and self._type(node).kind is _K.BOOL) or (
            isinstance(node, (Macro, Literal)) or (isinstance(node, Select) and node.test_only)
        )
        return source if makes_bool else self._call(operators.to_bool, source)

    def _write_raw(self, node: Expression) -> str:
        """Write an operand of a function that converts values of unknown type itself."""
        if isinstance(node, Identifier) and self._type(node).kind is _K.DYN:
            return self._scope[node.name]
        return self._write(node)

    def _select(self, node: Select) -> str:
        operand = self._write_raw(node.operand)
        field = self._constant(node.field)
        kind = self._type(node.operand).kind
        if node.test_only:
            return self._call(operators.test_field, operand, field)
        if kind in {_K.RECORD, _K.MAP}:
            return self._convert(node, f"{operand}[{field}]")
        return self._call(operators.select_field, operand, field)

    def _index(self, node: Index) -> str:
        operand, index = self._write(node.operand), self._write(node.index)
        literal = isinstance(node.index, Literal)
        kind = self._type(node.operand).kind
        is_name = literal and isinstance(node.index.value, str) and kind in {_K.RECORD, _K.MAP}  # type: ignore[attr-defined]
        if is_name:
            return self._convert(node, f"{operand}[{index}]")
        return self._call(operators.index_value, operand, index)

    def _macro(self, node: Macro) -> str:
        operand = self._write(node.operand)
        variable = f"x{next(self._numbers)}"
        before = self._scope
        self._scope = {**before, node.variable: variable}
        self._macros += 1
        condition = None if node.condition is None else f"lambda {variable}: {self._bool(node.condition)}"
        result = None if node.result is None else f"lambda {variable}: {self._write(node.result)}"
        self._scope = before
        self._macros -= 1
        steps = 1 + sum(map(_count_nodes, node.children[1:])) // _STEP_NODES
        macros = {**FAST_MACROS, **CAREFUL_MACROS} if self._careful else FAST_MACROS
        functions = [str(condition)] if node.name != "map" else [str(condition), str(result)]
        return self._call_budgeted(macros[node.name], str(steps), operand, *functions)

    def _operation(self, node: FunctionCall) -> str:
        name = node.function
        if name in {"_&&_", "_||_"}:
            operands = [self._bool(argument) for argument in node.arguments]
            if self._careful:
                return self._call(
                    absorb_and if name == "_&&_" else absorb_or, *(f"lambda: {operand}" for operand in operands)
                )
            return f"({(' and ' if name == '_&&_' else ' or ').join(operands)})"
        if name == "!_":
            return f"(not {self._bool(node.arguments[0])})"
        if name == "-_":
            return self._call(operators.negate, self._write(node.arguments[0]))
        if name.startswith("_") and name.endswith("_"):
            return self._binary(node, name[1:-1])
        return self._function(node)

    def _function(self, node: FunctionCall) -> str:
        arguments = [self._write_raw(child) for child in node.children]
        kinds = [self._type(child).kind for child in node.children]
        function = FUNCTIONS[node.function]
        self._charge_arguments(node, function, arguments)
        if _K.DYN in kinds or any(self._type(child).nullable for child in node.children[1:]):
            source = self._call(function.call_checked, *arguments)
        elif node.function == "contains":
            source = f"({arguments[1]} in {arguments[0]})"
        elif node.function in {"startsWith", "endsWith"}:
            source = f"{arguments[0]}.{node.function.lower()}({arguments[1]})"
        else:
            source = self._call(function.implementation, *arguments)
        copies = self._type(node).kind in _READ_WHOLE and node.function != "dyn"
        return self._charge(source) if copies else source

    def _charge_arguments(self, node: FunctionCall, function: RuleFunction, arguments: list[str]) -> None:
        """Charge what a function reads, in the sources of its arguments, or pass the budget to it."""
        if not function.constant_time and self._type(node.children[0]).kind in _READ_WHOLE:
            arguments[0] = self._charge(arguments[0])
        if node.function in {"startsWith", "endsWith"}:
            arguments[1] = self._charge_compared(node.children[1], arguments[1])
        if function.budgeted:
            self._uses_budget = True
            arguments.append("budget=budget")

    def _binary(self, node: FunctionCall, operator: str) -> str:
        left, right = map(self._write_raw, node.arguments)
        kinds = {self._type(argument).kind for argument in node.arguments}
        if isinstance(node.arguments[1], Literal) and self._type(node.arguments[0]).kind is _K.DYN:
            classes = _LITERAL_CLASSES.get(node.arguments[1].value.__class__)
            if classes and operator in _FAST_WITH_LITERAL:
                return self._compare_with_literal(operator, (left, right), classes)
        if operator in {"==", "!="}:
            return self._equality(node, operator, (left, right), kinds)
        if operator in operators.COMPARISONS:
            if kinds & _TEXTS and not any(isinstance(argument, Literal) for argument in node.arguments):
                left = self._charge_compared(node.arguments[0], left)
            if _K.DYN not in kinds:
                return f"({left} {operator} {right})"
        if operator == "in":
            return self._membership(node, left, right)
        if operator == "+" and kinds & _READ_WHOLE and not kinds & _CONSTANT_SIZE:
            return self._charge(self._call(operators.BINARY_IMPLEMENTATIONS[operator], left, right))
        return self._arithmetic(operator, (left, right), kinds)

    def _charge(self, source: str) -> str:
        """Wrap a value that is read or made whole: this takes steps of the budget."""
        return self._call_budgeted(runtime_values.charge_value, source)

    def _charge_compared(self, node: Expression, source: str) -> str:
        """Wrap a text that is compared, which is so fast that it counts only within macros."""
        if self._macros and not isinstance(node, Literal) and self._type(node).kind in _TEXTS:
            return self._charge(source)
        return source

    def _arithmetic(self, operator: str, sources: tuple[str, str], kinds: set[ValueKind]) -> str:
        left, right = sources
        if kinds == {_K.INT}:
            return self._integer(operator, left, right)
        if kinds == {_K.DOUBLE} and operator == "/":
            return self._call(operators.divide_doubles, left, right)
        if kinds == {_K.DOUBLE} or kinds <= _TIME_KINDS:
            return f"({left} {operator} {right})"
        return self._call(operators.BINARY_IMPLEMENTATIONS[operator], left, right)

    def _compare_with_literal(self, operator: str, sources: tuple[str, str], classes: frozenset[type]) -> str:
        """Write a comparison with a constant, by Python's operator if the value's class is the usual one."""
        value, constant = sources
        name = f"n{next(self._numbers)}"
        slow = self._call(operators.BINARY_IMPLEMENTATIONS[operator], name, constant)
        usual = self._constant(classes)
        return f"({name} {operator} {constant} if ({name} := {value}).__class__ in {usual} else {slow})"

    def _equality(self, node: FunctionCall, operator: str, sources: tuple[str, str], kinds: set[ValueKind]) -> str:
        left, right = sources
        if "None" in sources:
            if _NUMBER.fullmatch(left) or _NUMBER.fullmatch(right):  # Python warns of an identity test of a number
                return repr(operator == "!=")
            return f"({left} {'is' if operator == '==' else 'is not'} {right})"
        has_literal = any(isinstance(argument, Literal) for argument in node.arguments)
        if (len(kinds) == 1 and kinds <= _SCALARS) or kinds <= NUMBERS:
            left = left if has_literal else self._charge_compared(node.arguments[0], left)
            return f"({left} {operator} {right})"
        if has_literal or kinds & _CONSTANT_SIZE:
            return self._call(operators.BINARY_IMPLEMENTATIONS[operator], left, right)
        return self._call_budgeted(operators.BUDGETED_IMPLEMENTATIONS[operator], left, right)

    def _membership(self, node: FunctionCall, left: str, right: str) -> str:
        value, container = node.arguments
        kind = self._type(value).kind
        if isinstance(container, ListExpression) and kind in {_K.STRING, _K.INT}:
            constants = [item.value for item in container.items if isinstance(item, Literal)]
            if len(constants) == len(container.items) and {self._type(item).kind for item in container.items} == {kind}:
                return f"({left} in {self._constant(frozenset(constants))})"
        return self._call_budgeted(operators.contains_value, left, right)

    def _integer(self, operator: str, left: str, right: str) -> str:
        if operator == "/":
            return self._call(operators.bound_int, self._call(operators.divide_ints, left, right))
        if operator == "%":
            return self._call(operators.remainder_ints, left, right)
        number = f"n{next(self._numbers)}"
        overflow = self._constant(operators.overflow)
        return f"({number} if {MIN_INT} <= ({number} := {left} {operator} {right}) <= {MAX_INT} else {overflow}())"


def _count_nodes(body: Expression) -> int:
    """Return the size of a macro's body, which is evaluated for each element."""
    return sum(_ZONE_NODES if _finds_zone(node) else 1 for node in walk_expression(body))


def _finds_zone(node: Expression) -> bool:
    """Return true for a part of a timestamp in a zone that is not a constant."""
    if not isinstance(node, FunctionCall) or node.function not in TIMESTAMP_PARTS:
        return False
    return len(node.children) > 1 and not isinstance(node.children[1], Literal)
