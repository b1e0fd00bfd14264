"""Types of rule expressions, inferred bottom up from those of the variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial, reduce
from typing import Final

from contractlog.contracts.rules.functions.function_table import FUNCTIONS, OUTSIDE_NAMESPACES, TYPE_NAMES, RuleFunction
from contractlog.contracts.rules.functions.operators import (
    ARITHMETIC,
    COMPARISONS,
    KEY_KINDS,
    NEGATABLE_KINDS,
    are_ordered,
    describe_missing_operator,
)
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
    UnsignedInt,
)
from contractlog.contracts.rules.language.value_types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    NULL,
    NUMBERS,
    STRING,
    TYPE,
    UINT,
    ValueKind,
    ValueType,
    list_of,
    map_of,
    nullable,
)
from contractlog.contracts.rules.pattern.automaton import check_pattern
from contractlog.contracts.rules.pattern.parser import PatternSyntaxError
from contractlog.contracts.rules.rule_errors import RuleExpressionError

__all__ = ["TypedExpression", "check_types", "infer_types", "join_types"]

_K = ValueKind
_Scope = Mapping[str, ValueType]
_LITERAL_TYPES: Final[Mapping[type, ValueType]] = {
    type(None): NULL, bool: BOOL, int: INT, UnsignedInt: UINT, float: DOUBLE, str: STRING, bytes: BYTES,
}  # fmt: skip
_CONTAINERS: Final = frozenset({_K.MAP, _K.RECORD})


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """An expression with the type of each node, and its doubtful fields."""

    root: Expression
    types: Mapping[int, ValueType]  #: by ``id`` of the node
    #: fields that the schema does not name, but allows; each is described when it is called
    doubts: tuple[Callable[[], RuleExpressionError], ...] = ()

    @property
    def type(self) -> ValueType:
        """The type of the whole."""
        return self.types[id(self.root)]


def check_types(expression: Expression, variables: Mapping[str, ValueType]) -> ValueType:
    """Return the type of an expression.

    Raises:
        RuleExpressionError: an operand, argument, field or variable that cannot be right.
    """
    return infer_types(expression, variables).type


def infer_types(expression: Expression, variables: Mapping[str, ValueType] | None) -> TypedExpression:
    """Infer the type of every node; if ``variables`` is None, every name is a variable of type ``dyn``.

    Raises:
        RuleExpressionError: see ``check_types``.
    """
    inference = _Inference(variables is not None)
    inference.infer(expression, variables or {})
    return TypedExpression(expression, inference.types, tuple(inference.doubts))


def join_types(types: Iterable[ValueType]) -> ValueType:
    """Return the type of values of any of these types."""
    return reduce(_join, types, NULL)


def _join(left: ValueType, right: ValueType) -> ValueType:
    if left == right or right.kind is _K.NULL:
        return left if left == right else nullable(left)
    if left.kind is _K.NULL:
        return nullable(right)
    if replace(left, nullable=False) == replace(right, nullable=False):
        return nullable(left)
    if left.kind is right.kind and left.kind in {_K.LIST, _K.MAP}:
        parameters = tuple(map(_join, left.parameters, right.parameters))
        return ValueType(left.kind, parameters, nullable=left.nullable or right.nullable)
    return DYN


def _may_equal(left: ValueType, right: ValueType) -> bool:
    """Return true if values of two types can be equal."""
    kinds = {left.kind, right.kind}
    if kinds & {_K.DYN, _K.NULL} or kinds <= NUMBERS or kinds <= _CONTAINERS:
        return True
    return len(kinds) == 1 and all(map(_may_equal, left.parameters, right.parameters))


@dataclass(slots=True)
class _Inference:
    strict: bool  #: every name must be declared
    types: dict[int, ValueType] = field(default_factory=dict)
    doubts: list[Callable[[], RuleExpressionError]] = field(default_factory=list)

    def infer(self, node: Expression, scope: _Scope) -> ValueType:
        value_type = self._infer(node, scope)
        self.types[id(node)] = value_type
        return value_type

    def _infer(self, node: Expression, scope: _Scope) -> ValueType:  # noqa: PLR0911 -- one for each kind of node
        match node:
            case Literal():
                return _LITERAL_TYPES[type(node.value)]
            case Identifier():
                return self._identifier(node, scope)
            case Select():
                return self._select(node, scope)
            case Index():
                return self._index(node, scope)
            case Conditional():
                self._require_bool(node.condition, scope, "The condition before '?'")
                return join_types([self.infer(node.consequence, scope), self.infer(node.alternative, scope)])
            case ListExpression():
                items = [self.infer(item, scope) for item in node.items]
                return list_of(join_types(items) if items else DYN)
            case MapExpression():
                return self._map(node, scope)
            case Macro():
                return self._macro(node, scope)
            case FunctionCall():
                return self._call(node, scope)
        raise TypeError(type(node).__name__)  # pragma: no cover

    def _identifier(self, node: Identifier, scope: _Scope) -> ValueType:
        if node.name in scope:
            return scope[node.name]
        if not self.strict:
            return DYN
        if node.name in TYPE_NAMES:
            return TYPE
        raise _error(node, f"There is no variable '{node.name}'.{_suggest(node.name, scope)}")

    def _select(self, node: Select, scope: _Scope) -> ValueType:
        operand = self.infer(node.operand, scope)
        field_type = self._field(node, operand, node.field)
        return BOOL if node.test_only else field_type

    def _field(self, node: Expression, operand: ValueType, name: str) -> ValueType:
        if operand.kind is _K.RECORD and operand.fields is not None:
            fields = operand.fields.by_name
            if name in fields:
                return fields[name]
            problem = partial(_undeclared_field_error, node, operand, name)
            if operand.fields.closed:
                raise problem()
            self.doubts.append(problem)
            return DYN
        if operand.kind is _K.MAP:
            return operand.parameters[1]
        if operand.kind in {_K.DYN, _K.RECORD}:
            return DYN
        raise _error(node, f"A value of type {operand} has no field '{name}'.")

    def _index(self, node: Index, scope: _Scope) -> ValueType:
        operand, index = self.infer(node.operand, scope), self.infer(node.index, scope)
        if operand.kind is _K.LIST and index.kind in {_K.INT, _K.UINT, _K.DYN}:
            return operand.parameters[0]
        if operand.kind is _K.RECORD and isinstance(node.index, Literal) and isinstance(node.index.value, str):
            return self._field(node, operand, node.index.value)
        if operand.kind is _K.MAP and _may_equal(operand.parameters[0], index):
            return operand.parameters[1]
        if operand.kind is _K.DYN or (operand.kind is _K.RECORD and index.kind in {_K.STRING, _K.DYN}):
            return DYN
        raise _error(node, f"There is no {operand}[{index}].")

    def _map(self, node: MapExpression, scope: _Scope) -> ValueType:
        keys = [self.infer(key, scope) for key, _ in node.entries]
        values = [self.infer(value, scope) for _, value in node.entries]
        for (key, _), key_type in zip(node.entries, keys, strict=True):
            if key_type.kind not in KEY_KINDS | {_K.DYN}:
                raise _error(key, f"A key is a string, int, uint or bool, not {key_type}.")
        return map_of(join_types(keys), join_types(values)) if keys else map_of(DYN, DYN)

    def _macro(self, node: Macro, scope: _Scope) -> ValueType:
        operand = self.infer(node.operand, scope)
        if operand.kind is _K.RECORD:
            element = STRING
        elif operand.kind in {_K.LIST, _K.MAP}:
            element = operand.parameters[0]
        elif operand.kind is _K.DYN:
            element = DYN
        else:
            raise _error(node, f"{node.name}() needs a list or a map, not {operand}.")
        inner = {**scope, node.variable: element}
        if node.condition is not None:
            self._require_bool(node.condition, inner, f"The condition of {node.name}()")
        if node.name == "filter":
            return list_of(replace(element, conversion=""))
        return BOOL if node.result is None else list_of(self.infer(node.result, inner))

    def _require_bool(self, node: Expression, scope: _Scope, subject: str) -> None:
        value_type = self.infer(node, scope)
        if value_type.kind not in {_K.BOOL, _K.DYN}:
            raise _error(node, f"{subject} must be a bool, not {value_type}.")

    def _call(self, node: FunctionCall, scope: _Scope) -> ValueType:
        name = node.function
        if name in {"_&&_", "_||_", "!_"}:
            for argument in node.arguments:
                self._require_bool(argument, scope, f"An operand of '{name.strip('_')}'")
            return BOOL
        if name.startswith("_") and name.endswith("_"):
            left, right = (self.infer(argument, scope) for argument in node.arguments)
            return self._binary(node, name[1:-1], left, right)
        if name == "-_":
            return self._negation(node, self.infer(node.arguments[0], scope))
        return self._function(node, scope)

    def _negation(self, node: FunctionCall, operand: ValueType) -> ValueType:
        if operand.kind in NEGATABLE_KINDS | {_K.DYN}:
            return replace(operand, nullable=False, conversion="")
        raise _error(node, f"There is no -{operand}.")

    def _binary(self, node: FunctionCall, operator: str, left: ValueType, right: ValueType) -> ValueType:
        if operator in {"==", "!="}:
            if not _may_equal(left, right):
                raise _error(node, f"A value of type {left} never equals one of type {right}.")
            return BOOL
        if operator == "in":
            return self._membership(node, left, right)
        if operator in COMPARISONS:
            if not (are_ordered(left.kind, right.kind) or _K.DYN in {left.kind, right.kind}):
                raise _error(node, describe_missing_operator(left, operator, right))
            return BOOL
        return self._arithmetic(node, operator, left, right)

    def _membership(self, node: FunctionCall, left: ValueType, right: ValueType) -> ValueType:
        items = STRING if right.kind is _K.RECORD else right.parameters[0] if right.parameters else DYN
        if right.kind not in {_K.LIST, _K.MAP, _K.RECORD, _K.DYN}:
            raise _error(node, f"'in' needs a list or a map on the right, not {right}.")
        if not _may_equal(left, items):
            raise _error(node, f"A value of type {left} is never in {right}.")
        return BOOL

    def _arithmetic(self, node: FunctionCall, operator: str, left: ValueType, right: ValueType) -> ValueType:
        if _K.DYN in (left.kind, right.kind):
            return DYN
        if _K.DECIMAL in (left.kind, right.kind):
            raise _error(
                node,
                f"{describe_missing_operator(left, operator, right)} Use functions such as decimals.add().",
                outside_subset=True,
            )
        kind = ARITHMETIC.get((operator, left.kind, right.kind))
        if kind is None:
            convert = " Convert one of them, as in double(x)." if {left.kind, right.kind} <= NUMBERS else ""
            raise _error(node, f"{describe_missing_operator(left, operator, right)}{convert}")
        return join_types([left, right]) if kind is _K.LIST else ValueType(kind)

    def _function(self, node: FunctionCall, scope: _Scope) -> ValueType:
        self._require_subset(node, scope)
        function = FUNCTIONS[node.function]
        arguments = [self.infer(child, scope) for child in node.children]
        if node.function == "matches" and isinstance(node.children[-1], Literal):
            _check_pattern(node.children[-1])
        if not (function.as_method if node.target is not None else function.as_function):
            form = "a method: x.{0}()" if function.as_method else "a function: {0}(x)"
            raise _error(node, f"{node.function} is {form.format(node.function)}.")
        kinds = [argument.kind for argument in arguments]
        results = [signature for signature in function.signatures if signature.accepts(kinds)]
        if not results:
            listed = ", ".join(map(str, arguments))
            raise _error(node, f"{node.function}() has no form for {listed or 'no arguments'}.{_list_forms(function)}")
        if len({signature.result for signature in results}) > 1:
            return DYN
        result = results[0]
        return list_of(ValueType(result.items)) if result.items else ValueType(result.result)

    def _require_subset(self, node: FunctionCall, scope: _Scope) -> None:
        """Reject functions that other implementations of CEL may have."""
        target = node.target
        if (
            isinstance(target, Identifier)
            and target.name not in scope
            and (target.name in OUTSIDE_NAMESPACES or node.function not in FUNCTIONS)
        ):
            name = f"{target.name}.{node.function}"
            raise _error(
                node, f"The function {name}() is outside of the subset of CEL that is implemented.", outside_subset=True
            )
        if node.function not in FUNCTIONS:
            raise _error(
                node,
                f"The function {node.function}() is outside of the subset of CEL that is implemented."
                f"{_suggest(node.function, FUNCTIONS)}",
                outside_subset=True,
            )


def _list_forms(function: RuleFunction) -> str:
    forms = sorted({", ".join(kind.label for kind in form.arguments) for form in function.signatures})
    return f" It takes {' or '.join(forms)}."


def _check_pattern(node: Literal) -> None:
    try:
        check_pattern(str(node.value))
    except PatternSyntaxError as error:
        raise _error(node, f"The pattern is not valid: {error}.") from None


def _undeclared_field_error(node: Expression, record: ValueType, name: str) -> RuleExpressionError:
    fields = record.fields.by_name if record.fields else ()
    return _error(node, f"{record} has no field '{name}'.{_suggest(name, fields)}")


def _suggest(name: str, names: Iterable[str]) -> str:
    matches = get_close_matches(name, list(names), n=1)
    return f" Did you mean '{matches[0]}'?" if matches else ""


def _error(node: Expression, message: str, *, outside_subset: bool = False) -> RuleExpressionError:
    return RuleExpressionError(message, node.at.line, node.at.column, outside_subset=outside_subset)
