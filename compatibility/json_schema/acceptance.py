"""Acceptance of schemas that their draft's meta-schema rejects, as in the reference implementation.

The reference implementation does not use meta-schemas. It accepts whatever its two parsers can load: one for the drafts
up to 7, one for the later drafts. They require less: ``"required":["a","a"]``, ``"minLength":-1``, ``"anyOf":[]`` are
loaded. And they skip parts: definitions that no ``$ref`` leads to are not loaded, except ``$defs`` of the later drafts.
A schema that only the meta-schema rejects is accepted here, too; its ``nonconformity`` is the reason.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.parse import JsonSchema, find_problem, is_meta_schema
from contractlog.compatibility.json_schema.resolve import Here, Texts
from contractlog.compatibility.json_text import Number, pointer, write
from contractlog.compatibility.limits import shortened

__all__ = ["nonconformity", "require_acceptable"]

_KEY: Final = "nonconformity"
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})
_LARGEST: Final = 2**31
_ESCAPED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_NOT_IN_URIS: Final = re.compile(r'[\x00-\x20"%<>\\^`{|}\x7f]')
_NO_SCHEME: Final = re.compile(
    r"(?![A-Za-z][A-Za-z0-9+.-]*:)[^/?#:]*:|[A-Za-z][A-Za-z0-9+.-]*:(?:(?://)?(?:[?#]|\Z)|//\[(?![^\]]*\]))"
)
#: Features of Java's patterns that Python lacks: flags anywhere, other group names, other escapes.
_JAVA_FLAGS: Final = re.compile(r"\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?(?:\)|(:))")
_JAVA_GROUP: Final = re.compile(r"\(\?<(?:[A-Za-z][A-Za-z0-9]*>|[=!])")
_JAVA_ESCAPE: Final = re.compile(
    r"\\\\|\\Q(?s:.*?)(?:\\E|\Z)|\\[pP](?:\{\^?[\w=. -]+\}|[A-Z])"
    r"|\\(?:x\{[0-9A-Fa-f]{1,6}\}|k<[A-Za-z][A-Za-z0-9]*>|N\{[\w -]+\}|c.|[hHVRGzZXe1-9])"
)
_SET: Final = re.compile(r"\[\^?\]?[^\[\]]*\]")
_NOT_IN_JAVA: Final = re.compile(r"\(\?(?:P|#|\()|\{(?!\d+(?:,\d*)?\})")
_BESIDE_REF: Final = frozenset({"$ref", "$schema", "$id", "id", "title", "description", "readOnly", "writeOnly"})


def require_acceptable(schema: JsonSchema, referenced: Mapping[str, str]) -> None:
    """Raise ``InvalidSchema`` for a new schema that both its draft and the reference's parser reject.

    A number beyond the range of a double is rejected as well.
    """
    problem = nonconformity(schema, referenced)
    if problem is None:
        return
    if _has_unbounded_number(schema.value):
        raise problem
    refusal = next(_Loading(schema, referenced).refusals(), None)
    if refusal is not None:
        raise problem if str(problem.facts.get("at") or "").startswith(str(refusal.at)) else refusal


def _has_unbounded_number(value: Any) -> bool:
    """Return True if a number is beyond the range of a double, so that no validator can compare with it."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Number):
            if not part.integral and math.isinf(part.value):
                return True
        elif isinstance(part, (list, dict)):
            waiting += part.values() if isinstance(part, dict) else part
    return False


def nonconformity(schema: JsonSchema, referenced: Mapping[str, str]) -> InvalidSchema | None:
    """Return the meta-schema violation or unresolvable ``$ref`` of a schema; None if there is none."""
    if _KEY not in schema.made:
        schema.made[_KEY] = find_problem(schema, referenced)
    found: InvalidSchema | None = schema.made[_KEY]
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """A value at its position in a text."""

    value: Any
    text: str  #: name of the referenced schema; empty for the schema itself
    at: str
    here: Here

    def below(self, value: Any, token: str | int) -> _Part:
        return _Part(value, self.text, pointer(self.at, token), self.here)

    def refused(self, sentence: str) -> InvalidSchema:
        at = f"{self.text}#{self.at}" if self.text else self.at
        return InvalidSchema(f"not a schema of {self.here.draft.name}: {sentence}", at=at)


class _Loading:
    """Loading of one schema as by the reference implementation's parser for its draft."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str]) -> None:
        self._texts = Texts(schema, referenced)
        root = self._texts.root()
        self.waiting = deque([_Part(root.contents, "", "", root.here)])  #: values that must be schemas

    def refusals(self) -> Iterator[InvalidSchema]:
        """Yield the errors of the parser."""
        met = set[int]()
        while self.waiting:
            part = self.waiting.popleft()
            if isinstance(part.value, dict):
                if id(part.value) not in met:
                    met.add(id(part.value))
                    yield from self._load(_Part(part.value, part.text, part.at, self._inside(part)))
            elif not isinstance(part.value, bool):
                yield part.refused(f"{_shown(part.value)} is not a schema (an object, true or false)")

    def _inside(self, part: _Part) -> Here:
        return self._texts.inside(part.value, part.here)

    def _load(self, part: _Part) -> Iterator[InvalidSchema]:
        """Load the keywords of a schema; the older parser reads only annotations next to a ``$ref``."""
        loads = _LOADS[part.here.draft.name]
        if "$ref" in part.value and loads is not _LATER:
            loads = {keyword: load for keyword, load in loads.items() if keyword in _BESIDE_REF}
        for keyword, load in loads.items():
            if keyword in part.value:
                yield from load(self, part.below(part.value[keyword], keyword))
        for keyword in _WITH_IF if loads is _LATER and "if" in part.value else ():
            if keyword in part.value:
                yield from _schema(self, part.below(part.value[keyword], keyword))

    def follow(self, part: _Part) -> Iterator[InvalidSchema]:
        """Load the target of a reference."""
        reference = part.value
        if not isinstance(reference, str):
            yield part.refused(f"{_shown(reference)} is not a string")
            return
        target = self._texts.follow(reference, part.here)
        if target is not None:
            text, _, at = target.place.rpartition("#")
            self.waiting.append(_Part(target.contents, text, at, target.here))
        elif not is_meta_schema(reference):
            told = f'"{shortened(reference)}" is neither in the schema nor among its references, and is not fetched'
            yield InvalidSchema(told, at=part.refused("").at)


Load = Callable[[_Loading, _Part], Iterator[InvalidSchema]]


def _scalar(words: str, holds: Callable[[Any], bool]) -> Load:
    """Return a loader for a value without subschemas; ``words`` complete the message "… is not …"."""

    def load(_loading: _Loading, part: _Part) -> Iterator[InvalidSchema]:
        if not holds(part.value):
            yield part.refused(f"{_shown(part.value)} is not {words}")

    return load


def _schema(loading: _Loading, part: _Part) -> Iterator[InvalidSchema]:
    loading.waiting.append(part)
    return iter(())


def _each(load: Load) -> Load:
    def load_all(loading: _Loading, part: _Part) -> Iterator[InvalidSchema]:
        if not isinstance(part.value, list):
            yield part.refused(f"{_shown(part.value)} is not an array")
            return
        for index, item in enumerate(part.value):
            yield from load(loading, part.below(item, index))

    return load_all


def _by_name(load: Load, name_holds: Callable[[str], bool] = lambda _name: True) -> Load:
    def load_all(loading: _Loading, part: _Part) -> Iterator[InvalidSchema]:
        if not isinstance(part.value, dict):
            yield part.refused(f"{_shown(part.value)} is not an object")
            return
        for name, member in part.value.items():
            inner = part.below(member, name)
            if not name_holds(name):
                yield inner.refused(f"{_shown(name)} is not a regular expression")
            yield from load(loading, inner)

    return load_all


def _one_or_each(load: Load, alone: Load | None = None) -> Load:
    """Return a loader for an array of items, or a single value, which ``alone`` loads if given."""
    return lambda loading, part: (_each(load) if isinstance(part.value, list) else alone or load)(loading, part)


def _object(loading: _Loading, part: _Part) -> Iterator[InvalidSchema]:
    if isinstance(part.value, bool):
        yield part.refused(f"{_shown(part.value)} is not an array or an object")
    loading.waiting.append(part)


def _one_kind(kind: type, load: Load) -> Load:
    """Return a loader for values of one type that ignores all others."""
    return lambda loading, part: load(loading, part) if isinstance(part.value, kind) else iter(())


def _is_integer(value: Any) -> bool:
    return isinstance(value, Number) and value.integral and -_LARGEST <= int(value.text) < _LARGEST


def _is_pattern(value: Any) -> bool:
    """Return True if Java compiles a pattern.

    Python's compiler decides, after Java's own escapes are replaced by a character each.
    """
    if not isinstance(value, str):
        return False
    pattern = _JAVA_ESCAPE.sub("a", value)
    if _NOT_IN_JAVA.search(_SET.sub("a", pattern.replace("\\{", "a"))):
        return False
    pattern = _JAVA_FLAGS.sub(lambda flags: "(?:" if flags[1] else "", pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about nested sets, which Java has and Python may get
            re.compile(_JAVA_GROUP.sub("(?:", pattern))
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _is_uri(value: Any) -> bool:
    return isinstance(value, str) and not _NOT_IN_URIS.search(_ESCAPED.sub("", value)) and not _NO_SCHEME.match(value)


def _shown(value: Any) -> str:
    return shortened(write(value, lambda number: number.text))


_TEXT: Final = _scalar("a string", lambda value: isinstance(value, str))
_FLAG: Final = _scalar("true or false", lambda value: isinstance(value, bool))
_NUMBER: Final = _scalar("a number", lambda value: isinstance(value, Number))
_FACTOR: Final = _scalar("a number other than 0", lambda value: isinstance(value, Number) and float(value.text) != 0)
_INTEGER: Final = _scalar("a 32-bit integer", _is_integer)
_ARRAY: Final = _scalar("an array", lambda value: isinstance(value, list))
_PATTERN: Final = _scalar("a regular expression", _is_pattern)
_URI: Final = _scalar("a URI", _is_uri)
_TYPE: Final = _scalar("the name of a type", lambda value: isinstance(value, str) and value in _TYPES)

_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_LIMITS: Final = ("exclusiveMaximum", "exclusiveMinimum")
_COMMON: Final[Mapping[str, Load]] = {
    **dict.fromkeys(("title", "description", "format"), _TEXT),
    **dict.fromkeys(("maximum", "minimum"), _NUMBER),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _each(_schema)),
    **dict.fromkeys(("not", "additionalProperties"), _schema),
    "$ref": _Loading.follow,
    "enum": _ARRAY,
    "type": _one_or_each(_TYPE),
    "pattern": _PATTERN,
    "uniqueItems": _FLAG,
    "required": _each(_TEXT),
    "properties": _by_name(_schema),
    "patternProperties": _by_name(_schema, _is_pattern),
}
_DRAFT_4: Final[Mapping[str, Load]] = {
    **_COMMON,
    **dict.fromkeys(_COUNTS, _INTEGER),
    **dict.fromkeys(_LIMITS, _FLAG),
    "$schema": _TEXT,
    "id": _URI,
    "multipleOf": _FACTOR,
    "items": _one_or_each(_schema, alone=_object),
    "additionalItems": _schema,
    "dependencies": _by_name(_one_or_each(_TEXT, alone=_schema)),
}
_DRAFT_6: Final[Mapping[str, Load]] = {
    **{keyword: load for keyword, load in _DRAFT_4.items() if keyword != "id"},
    **dict.fromkeys(_LIMITS, _NUMBER),
    **dict.fromkeys(("contains", "propertyNames"), _schema),
    "$id": _URI,
    "items": _one_or_each(_schema),
}
_DRAFT_7: Final[Mapping[str, Load]] = {
    **_DRAFT_6,
    **dict.fromkeys(("if", "then", "else"), _schema),
    **dict.fromkeys(("readOnly", "writeOnly"), _FLAG),
}
_LATER: Final[Mapping[str, Load]] = {
    **_COMMON,
    **dict.fromkeys((*_COUNTS, *_LIMITS, "multipleOf"), _NUMBER),
    **dict.fromkeys(("readOnly", "writeOnly", "deprecated"), _FLAG),
    **dict.fromkeys(("items", "contains", "propertyNames", "if", "unevaluatedItems", "unevaluatedProperties"), _schema),
    **dict.fromkeys(("$defs", "dependentSchemas"), _by_name(_schema)),
    "$id": _one_kind(str, _URI),
    "$dynamicRef": _Loading.follow,
    "$dynamicAnchor": _TEXT,
    "prefixItems": _each(_schema),
    "dependentRequired": _by_name(_each(_TEXT)),
}
_LOADS: Final[Mapping[str, Mapping[str, Load]]] = {
    "draft-04": _DRAFT_4,
    "draft-06": _DRAFT_6,
    "draft-07": _DRAFT_7,
    "2019-09": _LATER,
    "2020-12": _LATER,
}
_WITH_IF: Final = ("then", "else")  #: the later parser loads them only next to an ``if``
