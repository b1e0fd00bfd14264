"""Functions of rule expressions: for each its signatures, implementation and words, declared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any, Final

from contractlog.contracts.rules.evaluation.runtime_values import import_value, kind_of
from contractlog.contracts.rules.functions import conversions, decimal_functions, text_formats, text_functions
from contractlog.contracts.rules.functions.operators import describe_kind
from contractlog.contracts.rules.functions.time_functions import DURATION_PARTS, TIMESTAMP_PARTS, timestamp_part
from contractlog.contracts.rules.language.value_types import ValueKind
from contractlog.contracts.rules.pattern.automaton import search_pattern
from contractlog.contracts.rules.rule_errors import RuleEvaluationError

__all__ = ["FUNCTIONS", "OUTSIDE_NAMESPACES", "TYPE_NAMES", "RuleFunction", "Signature"]

_K = ValueKind
MAX_ACCEPTED: Final = 100


@dataclass(frozen=True, slots=True)
class Signature:
    """Kinds of arguments, a method's target first, and the kind of the result; ``dyn`` is any kind."""

    arguments: tuple[ValueKind, ...]
    result: ValueKind
    items: ValueKind | None = None  #: kind of the items, if the result is a list

    def accepts(self, kinds: Sequence[ValueKind]) -> bool:
        """Return true if arguments of these kinds fit."""
        return len(self.arguments) == len(kinds) and all(
            _K.DYN in {expected, kind} or kind is expected or (expected is _K.MAP and kind is _K.RECORD)
            for expected, kind in zip(self.arguments, kinds, strict=True)
        )


@dataclass(frozen=True, slots=True)
class RuleFunction:
    """A function: ``name(arguments)``, or a method, ``target.name(arguments)``, or both."""

    name: str
    signatures: tuple[Signature, ...]
    implementation: Callable[..., Any]
    #: English template, ``{0}``, ``{1}`` are the arguments: a noun phrase, or a statement if the result is a bool
    words: str
    as_function: bool = False
    as_method: bool = True
    negative_words: str = ""  #: the statement if the result is false
    constant_time: bool = False  #: it does not read its target or first argument whole, or charges that
    budgeted: bool = False  #: it takes the budget of the evaluation as ``budget``, and charges it
    #: cache of the classes of arguments that fit a signature
    accepted: set[tuple[type, ...]] = field(default_factory=set, compare=False, repr=False)

    def call_checked(self, *arguments: Any, **budget: Any) -> Any:
        """Call the implementation with arguments whose kinds are known only when the rule runs."""
        classes = tuple([argument.__class__ for argument in arguments])
        if classes in self.accepted:
            return self.implementation(*arguments, **budget)
        values = list(map(import_value, arguments))
        kinds = list(map(kind_of, values))
        if not any(signature.accepts(kinds) for signature in self.signatures):
            listed = ", ".join(map(describe_kind, values))
            raise RuleEvaluationError(f"{self.name}() has no form for {listed or 'no arguments'}.")
        if all(map(is_, values, arguments)) and len(self.accepted) < MAX_ACCEPTED:
            self.accepted.add(classes)
        return self.implementation(*values, **budget)


def _sign(*kinds: ValueKind, items: ValueKind | None = None) -> Signature:
    return Signature(kinds[:-1], kinds[-1], items)


def _text_test(
    name: str, implementation: Callable[..., Any], words: str, negative_words: str, *, arguments: int = 1
) -> RuleFunction:
    signature = _sign(_K.STRING, *[_K.STRING] * arguments, _K.BOOL)
    return RuleFunction(
        name, (signature,), implementation, words, negative_words=negative_words, as_function=name == "matches",
        constant_time=name in {"startsWith", "endsWith", "matches"}, budgeted=name == "matches",
    )  # fmt: skip


def _format_test(name: str, implementation: Callable[[str], bool], noun: str) -> RuleFunction:
    return _text_test(name, implementation, f"{{0}} is {noun}", f"{{0}} is not {noun}", arguments=0)


def _conversion(
    name: str, implementation: Callable[..., Any], kinds: tuple[ValueKind, ...], result: ValueKind
) -> RuleFunction:
    signatures = tuple(_sign(kind, result) for kind in kinds)
    return RuleFunction(
        name, signatures, implementation, f"{{0}} as {name}", as_function=True, as_method=False,
        constant_time=name in {"int", "uint", "duration"},
    )  # fmt: skip


def _part(name: str, words: str) -> RuleFunction:
    durations = (_sign(_K.DURATION, _K.INT),) if name in DURATION_PARTS else ()
    signatures = (_sign(_K.TIMESTAMP, _K.INT), _sign(_K.TIMESTAMP, _K.STRING, _K.INT), *durations)
    return RuleFunction(name, signatures, timestamp_part(name), words, constant_time=True)


def _decimal_function(
    name: str,
    implementation: Callable[..., Any],
    words: str,
    *,
    arguments: int = 2,
    result: ValueKind = _K.DECIMAL,
    negative_words: str = "",
    with_scale: bool = False,
) -> RuleFunction:
    """Declare a function of ``decimals``: its arguments may be of any kind that ``decimal()`` takes."""
    signatures = (_sign(*[_K.DYN] * arguments, result), *[_sign(_K.DYN, _K.INT, result)] * with_scale)
    return RuleFunction(
        f"decimals.{name}", signatures, implementation, words, as_function=True, as_method=False,
        negative_words=negative_words, budgeted=True,
    )  # fmt: skip


_DECIMAL_RELATIONS: Final = {
    "eq": ("{0} is {1}", "{0} is not {1}"),
    "lt": ("{0} is less than {1}", "{0} is at least {1}"),
    "le": ("{0} is at most {1}", "{0} is greater than {1}"),
    "gt": ("{0} is greater than {1}", "{0} is at most {1}"),
    "ge": ("{0} is at least {1}", "{0} is less than {1}"),
}
_DECIMAL_FUNCTIONS: Final = (
    *(
        _decimal_function(
            name, decimal_functions.COMPARISONS_OF_DECIMALS[name], words, result=_K.BOOL, negative_words=negative_words
        )
        for name, (words, negative_words) in _DECIMAL_RELATIONS.items()
    ),
    _decimal_function("add", decimal_functions.add, "the sum of {0} and {1}"),
    _decimal_function("sub", decimal_functions.subtract, "the difference of {0} and {1}"),
    _decimal_function("mul", decimal_functions.multiply, "the product of {0} and {1}"),
    _decimal_function("div", decimal_functions.divide, "the quotient of {0} and {1}"),
    _decimal_function("mod", decimal_functions.remainder, "the remainder of {0} divided by {1}"),
    _decimal_function("greatest", decimal_functions.greatest, "the greater of {0} and {1}"),
    _decimal_function("least", decimal_functions.least, "the lesser of {0} and {1}"),
    _decimal_function("sqrt", decimal_functions.square_root, "the square root of {0}", arguments=1),
    _decimal_function("neg", decimal_functions.negative, "minus {0}", arguments=1),
    _decimal_function("abs", decimal_functions.absolute, "the absolute value of {0}", arguments=1),
    _decimal_function("sign", decimal_functions.sign, "the sign of {0}", arguments=1, result=_K.INT),
    _decimal_function("round", decimal_functions.round_half_up, "{0} rounded", arguments=1, with_scale=True),
    _decimal_function("trunc", decimal_functions.truncate, "{0} rounded toward zero", arguments=1, with_scale=True),
    _decimal_function("floor", decimal_functions.floor, "{0} rounded down", arguments=1),
    _decimal_function("ceil", decimal_functions.ceil, "{0} rounded up", arguments=1),
)

_TIMES: Final = {
    "getFullYear": "the year of {0}",
    "getMonth": "the month from 0 of {0}",
    "getDate": "the day of the month of {0}",
    "getDayOfMonth": "the day from 0 of the month of {0}",
    "getDayOfWeek": "the day of the week from 0, Sunday, of {0}",
    "getDayOfYear": "the day from 0 of the year of {0}",
    "getHours": "the hours of {0}",
    "getMinutes": "the minutes of {0}",
    "getSeconds": "the seconds of {0}",
    "getMilliseconds": "the milliseconds of {0}",
}
_NUMBERS: Final = (_K.INT, _K.UINT, _K.DOUBLE, _K.DECIMAL)

_DECLARED: Final = (
    RuleFunction(
        "size", tuple(_sign(kind, _K.INT) for kind in (_K.STRING, _K.BYTES, _K.LIST, _K.MAP)), len,
        "the size of {0}", as_function=True, constant_time=True,
    ),
    _text_test("contains", str.__contains__, "{0} contains {1}", "{0} does not contain {1}"),
    _text_test("startsWith", str.startswith, "{0} starts with {1}", "{0} does not start with {1}"),
    _text_test("endsWith", str.endswith, "{0} ends with {1}", "{0} does not end with {1}"),
    _text_test("matches", search_pattern, "{0} matches the pattern {1}", "{0} does not match the pattern {1}"),
    _format_test("isEmail", text_formats.is_email, "an email address"),
    _format_test("isHostname", text_formats.is_hostname, "a host name"),
    _format_test("isIpv4", text_formats.is_ipv4, "an IPv4 address"),
    _format_test("isIpv6", text_formats.is_ipv6, "an IPv6 address"),
    _format_test("isUri", text_formats.is_uri, "a URI"),
    _format_test("isUriRef", text_formats.is_uri_reference, "a URI or a relative reference"),
    _format_test("isUuid", text_formats.is_uuid, "a UUID"),
    RuleFunction(
        "format", (_sign(_K.STRING, _K.LIST, _K.STRING),), text_functions.format_text, "{0} filled with {1}",
        budgeted=True,
    ),
    RuleFunction("lowerAscii", (_sign(_K.STRING, _K.STRING),), text_functions.lower_ascii, "{0} in lower case"),
    RuleFunction("upperAscii", (_sign(_K.STRING, _K.STRING),), text_functions.upper_ascii, "{0} in upper case"),
    RuleFunction("trim", (_sign(_K.STRING, _K.STRING),), str.strip, "{0} without white space around it"),
    RuleFunction(
        "charAt", (_sign(_K.STRING, _K.INT, _K.STRING),), text_functions.character_at, "the character {1} of {0}",
        constant_time=True,
    ),
    RuleFunction(
        "indexOf",
        (_sign(_K.STRING, _K.STRING, _K.INT), _sign(_K.STRING, _K.STRING, _K.INT, _K.INT)),
        text_functions.find_text, "the position of {1} in {0}",
    ),
    RuleFunction(
        "lastIndexOf", (_sign(_K.STRING, _K.STRING, _K.INT),), text_functions.find_last_text,
        "the last position of {1} in {0}",
    ),
    RuleFunction(
        "substring",
        (_sign(_K.STRING, _K.INT, _K.STRING), _sign(_K.STRING, _K.INT, _K.INT, _K.STRING)),
        text_functions.substring, "the part of {0} from {1}",
    ),
    RuleFunction(
        "replace",
        (
            _sign(_K.STRING, _K.STRING, _K.STRING, _K.STRING),
            _sign(_K.STRING, _K.STRING, _K.STRING, _K.INT, _K.STRING),
        ),
        text_functions.replace_text, "{0} with {2} instead of {1}",
    ),
    RuleFunction(
        "split",
        (
            _sign(_K.STRING, _K.STRING, _K.LIST, items=_K.STRING),
            _sign(_K.STRING, _K.STRING, _K.INT, _K.LIST, items=_K.STRING),
        ),
        text_functions.split_text, "the parts of {0} between {1}",
    ),
    RuleFunction(
        "join", (_sign(_K.LIST, _K.STRING), _sign(_K.LIST, _K.STRING, _K.STRING)),
        text_functions.join_texts, "the texts of {0} joined",
    ),
    _conversion("int", conversions.to_int, (*_NUMBERS, _K.STRING, _K.TIMESTAMP), _K.INT),
    _conversion("uint", conversions.to_uint, (*_NUMBERS, _K.STRING), _K.UINT),
    _conversion("double", conversions.to_double, (*_NUMBERS, _K.STRING), _K.DOUBLE),
    _conversion(
        "string", conversions.to_string,
        (*_NUMBERS, _K.BOOL, _K.STRING, _K.BYTES, _K.TIMESTAMP, _K.DURATION), _K.STRING,
    ),
    _conversion("bytes", conversions.to_bytes, (_K.STRING, _K.BYTES), _K.BYTES),
    _conversion("bool", conversions.to_boolean, (_K.STRING, _K.BOOL), _K.BOOL),
    RuleFunction(
        "timestamp",
        (
            _sign(_K.STRING, _K.TIMESTAMP), _sign(_K.INT, _K.TIMESTAMP), _sign(_K.TIMESTAMP, _K.TIMESTAMP),
            _sign(_K.INT, _K.INT, _K.TIMESTAMP),
        ),
        conversions.to_timestamp, "the time {0}", as_function=True, as_method=False, constant_time=True,
    ),
    RuleFunction(
        "decimal",
        (*(_sign(kind, _K.DECIMAL) for kind in (*_NUMBERS, _K.STRING)), _sign(_K.BYTES, _K.INT, _K.DECIMAL)),
        decimal_functions.to_decimal, "{0} as decimal", as_function=True, as_method=False,
    ),
    *_DECIMAL_FUNCTIONS,
    _conversion("duration", conversions.to_duration, (_K.STRING, _K.DURATION), _K.DURATION),
    RuleFunction(
        "type", (_sign(_K.DYN, _K.TYPE),), conversions.type_of, "the type of {0}", as_function=True, as_method=False,
        constant_time=True,
    ),
    RuleFunction(
        "dyn", (_sign(_K.DYN, _K.DYN),), lambda value: value, "{0}", as_function=True, as_method=False,
        constant_time=True,
    ),
    *(_part(name, _TIMES[name]) for name in TIMESTAMP_PARTS),
)  # fmt: skip

FUNCTIONS: Final[Mapping[str, RuleFunction]] = {function.name: function for function in _DECLARED}
"""Every function, by name."""

TYPE_NAMES: Final = frozenset({"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"})
"""Names of types that are values: ``type(x) == int``."""

OUTSIDE_NAMESPACES: Final = frozenset({"base64", "math", "optional", "sets", "strings", "variants"})
"""Namespaces of functions of CEL implementations that are outside of the subset."""
