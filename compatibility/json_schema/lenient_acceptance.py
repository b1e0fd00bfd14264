"""Acceptance of schemas that their draft's meta-schema rejects, as in the reference implementation.

The reference implementation does not use meta-schemas. It accepts whatever its two parsers can load: one for the drafts
up to 7, one for the later drafts. They require less: ``"required":["a","a"]``, ``"minLength":-1``, ``"anyOf":[]`` are
loaded. And they skip parts: definitions that no ``$ref`` leads to are not loaded, except ``$defs`` of the later drafts.
A schema that only the meta-schema rejects is accepted here, too; ``find_nonconformity_reason`` returns the reason.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_schema.parser import JsonSchema, find_schema_error, is_meta_schema
from contractlog.compatibility.json_schema.reference_resolver import Documents, SchemaPosition
from contractlog.compatibility.json_schema.vocabulary import (
    COMBINING_KEYWORDS,
    CONDITIONAL_KEYWORDS,
    COUNT_KEYWORDS,
    EXCLUSIVE_LIMIT_KEYWORDS,
    KEYWORDS_NEXT_TO_REF,
    TYPES,
)
from contractlog.compatibility.json_text import Number, write_json
from contractlog.compatibility.limits import truncate_message

__all__ = ["find_nonconformity_reason", "require_acceptable"]

_CACHE_KEY: Final = "nonconformity"
_INTEGER_LIMIT: Final = 2**31
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
_CHARACTER_SET: Final = re.compile(r"\[\^?\]?[^\[\]]*\]")
_NOT_IN_JAVA: Final = re.compile(r"\(\?(?:P|#|\()|\{(?!\d+(?:,\d*)?\})")


def require_acceptable(schema: JsonSchema, referenced: Mapping[str, str]) -> None:
    """Raise ``InvalidSchema`` for a new schema that both its draft and the reference's parser reject.

    A number beyond the range of a double is rejected as well.
    """
    violation = find_nonconformity_reason(schema, referenced)
    if violation is None:
        return
    if _has_unbounded_number(schema.value):
        raise violation
    loader_error = next(_ReferenceLoader(schema, referenced).errors(), None)
    if loader_error is not None:
        raise violation if str(violation.facts.get("at") or "").startswith(str(loader_error.at)) else loader_error


def _has_unbounded_number(value: Any) -> bool:
    """Return True if a number is beyond the range of a double, so that no validator can compare with it."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Number):
            if not part.integral and math.isinf(part.value):
                return True
        elif isinstance(part, (list, dict)):
            pending += part.values() if isinstance(part, dict) else part
    return False


def find_nonconformity_reason(schema: JsonSchema, referenced: Mapping[str, str]) -> InvalidSchema | None:
    """Return the meta-schema violation or unresolvable ``$ref`` of a schema; None if there is none."""
    if _CACHE_KEY not in schema.derived:
        schema.derived[_CACHE_KEY] = find_schema_error(schema, referenced)
    problem: InvalidSchema | None = schema.derived[_CACHE_KEY]
    return problem


def _error(position: SchemaPosition, sentence: str) -> InvalidSchema:
    return InvalidSchema(f"not a schema of {position.context.draft.name}: {sentence}", at=position.location)


class _ReferenceLoader:
    """Loading of one schema as by the reference implementation's parser for its draft."""

    def __init__(self, schema: JsonSchema, referenced: Mapping[str, str]) -> None:
        self._documents = Documents(schema, referenced)
        self.pending = deque([self._documents.root()])  #: values that must be schemas

    def errors(self) -> Iterator[InvalidSchema]:
        """Yield the errors of the parser."""
        visited = set[int]()
        while self.pending:
            part = self.pending.popleft()
            if isinstance(part.contents, dict):
                if id(part.contents) not in visited:
                    visited.add(id(part.contents))
                    yield from self._load(self._documents.below(part))
            elif not isinstance(part.contents, bool):
                yield _error(part, f"{_describe(part.contents)} is not a schema (an object, true or false)")

    def _load(self, part: SchemaPosition) -> Iterator[InvalidSchema]:
        """Load the keywords of a schema; the older parser reads only annotations next to a ``$ref``."""
        loaders = _LOADERS[part.context.draft.name]
        if "$ref" in part.contents and loaders is not _SINCE_2019:
            loaders = {keyword: loader for keyword, loader in loaders.items() if keyword in KEYWORDS_NEXT_TO_REF}
        for keyword, loader in loaders.items():
            if keyword in part.contents:
                yield from loader(self, part.child(keyword))
        for keyword in CONDITIONAL_KEYWORDS if loaders is _SINCE_2019 and "if" in part.contents else ():
            if keyword in part.contents:
                yield from _load_schema(self, part.child(keyword))

    def follow(self, part: SchemaPosition) -> Iterator[InvalidSchema]:
        """Load the target of a reference."""
        reference = part.contents
        if not isinstance(reference, str):
            yield _error(part, f"{_describe(reference)} is not a string")
            return
        target = self._documents.follow(reference, part.context)
        if target is not None:
            self.pending.append(target)
        elif not is_meta_schema(reference):
            message = (
                f'"{truncate_message(reference)}" is neither in the schema nor among its references, and is not fetched'
            )
            yield InvalidSchema(message, at=part.location)


Loader = Callable[[_ReferenceLoader, SchemaPosition], Iterator[InvalidSchema]]


def _value_loader(description: str, is_valid: Callable[[Any], bool]) -> Loader:
    """Return a loader for a value without subschemas; ``description`` completes the message "… is not …"."""

    def load(_loader: _ReferenceLoader, part: SchemaPosition) -> Iterator[InvalidSchema]:
        if not is_valid(part.contents):
            yield _error(part, f"{_describe(part.contents)} is not {description}")

    return load


def _load_schema(reference_loader: _ReferenceLoader, part: SchemaPosition) -> Iterator[InvalidSchema]:
    reference_loader.pending.append(part)
    return iter(())


def _item_loader(loader: Loader) -> Loader:
    def load_all(loading: _ReferenceLoader, part: SchemaPosition) -> Iterator[InvalidSchema]:
        if not isinstance(part.contents, list):
            yield _error(part, f"{_describe(part.contents)} is not an array")
            return
        for index in range(len(part.contents)):
            yield from loader(loading, part.child(index))

    return load_all


def _member_loader(loader: Loader, is_valid_name: Callable[[str], bool] = lambda _name: True) -> Loader:
    def load_all(loading: _ReferenceLoader, part: SchemaPosition) -> Iterator[InvalidSchema]:
        if not isinstance(part.contents, dict):
            yield _error(part, f"{_describe(part.contents)} is not an object")
            return
        for name in part.contents:
            inner = part.child(name)
            if not is_valid_name(name):
                yield _error(inner, f"{_describe(name)} is not a regular expression")
            yield from loader(loading, inner)

    return load_all


def _single_or_item_loader(loader: Loader, single_loader: Loader | None = None) -> Loader:
    """Return a loader for an array of items, or a single value, which ``single_loader`` loads if given."""
    return lambda reference_loader, part: (
        _item_loader(loader) if isinstance(part.contents, list) else single_loader or loader
    )(reference_loader, part)


def _load_object(reference_loader: _ReferenceLoader, part: SchemaPosition) -> Iterator[InvalidSchema]:
    if isinstance(part.contents, bool):
        yield _error(part, f"{_describe(part.contents)} is not an array or an object")
    reference_loader.pending.append(part)


def _typed_loader(value_type: type, loader: Loader) -> Loader:
    """Return a loader for values of one type that ignores all others."""
    return lambda reference_loader, part: (
        loader(reference_loader, part) if isinstance(part.contents, value_type) else iter(())
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, Number) and value.integral and -_INTEGER_LIMIT <= int(value.text) < _INTEGER_LIMIT


def _is_pattern(value: Any) -> bool:
    """Return True if Java compiles a pattern.

    Python's compiler decides, after Java's own escapes are replaced by a character each.
    """
    if not isinstance(value, str):
        return False
    pattern = _JAVA_ESCAPE.sub("a", value)
    if _NOT_IN_JAVA.search(_CHARACTER_SET.sub("a", pattern.replace("\\{", "a"))):
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


def _describe(value: Any) -> str:
    return truncate_message(write_json(value, lambda number: number.text))


_STRING: Final = _value_loader("a string", lambda value: isinstance(value, str))
_FLAG: Final = _value_loader("true or false", lambda value: isinstance(value, bool))
_NUMBER: Final = _value_loader("a number", lambda value: isinstance(value, Number))
_FACTOR: Final = _value_loader(
    "a number other than 0", lambda value: isinstance(value, Number) and float(value.text) != 0
)
_INTEGER: Final = _value_loader("a 32-bit integer", _is_integer)
_ARRAY: Final = _value_loader("an array", lambda value: isinstance(value, list))
_PATTERN: Final = _value_loader("a regular expression", _is_pattern)
_URI: Final = _value_loader("a URI", _is_uri)
_TYPE: Final = _value_loader("the name of a type", lambda value: isinstance(value, str) and value in TYPES)

_COMMON: Final[Mapping[str, Loader]] = {
    **dict.fromkeys(("title", "description", "format"), _STRING),
    **dict.fromkeys(("maximum", "minimum"), _NUMBER),
    **dict.fromkeys(COMBINING_KEYWORDS, _item_loader(_load_schema)),
    **dict.fromkeys(("not", "additionalProperties"), _load_schema),
    "$ref": _ReferenceLoader.follow,
    "enum": _ARRAY,
    "type": _single_or_item_loader(_TYPE),
    "pattern": _PATTERN,
    "uniqueItems": _FLAG,
    "required": _item_loader(_STRING),
    "properties": _member_loader(_load_schema),
    "patternProperties": _member_loader(_load_schema, _is_pattern),
}
_DRAFT_4: Final[Mapping[str, Loader]] = {
    **_COMMON,
    **dict.fromkeys(COUNT_KEYWORDS, _INTEGER),
    **dict.fromkeys(EXCLUSIVE_LIMIT_KEYWORDS, _FLAG),
    "$schema": _STRING,
    "id": _URI,
    "multipleOf": _FACTOR,
    "items": _single_or_item_loader(_load_schema, single_loader=_load_object),
    "additionalItems": _load_schema,
    "dependencies": _member_loader(_single_or_item_loader(_STRING, single_loader=_load_schema)),
}
_DRAFT_6: Final[Mapping[str, Loader]] = {
    **{keyword: load for keyword, load in _DRAFT_4.items() if keyword != "id"},
    **dict.fromkeys(EXCLUSIVE_LIMIT_KEYWORDS, _NUMBER),
    **dict.fromkeys(("contains", "propertyNames"), _load_schema),
    "$id": _URI,
    "items": _single_or_item_loader(_load_schema),
}
_DRAFT_7: Final[Mapping[str, Loader]] = {
    **_DRAFT_6,
    **dict.fromkeys(("if", *CONDITIONAL_KEYWORDS), _load_schema),
    **dict.fromkeys(("readOnly", "writeOnly"), _FLAG),
}
_SINCE_2019: Final[Mapping[str, Loader]] = {
    **_COMMON,
    **dict.fromkeys((*COUNT_KEYWORDS, *EXCLUSIVE_LIMIT_KEYWORDS, "multipleOf"), _NUMBER),
    **dict.fromkeys(("readOnly", "writeOnly", "deprecated"), _FLAG),
    **dict.fromkeys(
        ("items", "contains", "propertyNames", "if", "unevaluatedItems", "unevaluatedProperties"), _load_schema
    ),
    **dict.fromkeys(("$defs", "dependentSchemas"), _member_loader(_load_schema)),
    "$id": _typed_loader(str, _URI),
    "$dynamicRef": _ReferenceLoader.follow,
    "$dynamicAnchor": _STRING,
    "prefixItems": _item_loader(_load_schema),
    "dependentRequired": _member_loader(_item_loader(_STRING)),
}
_LOADERS: Final[Mapping[str, Mapping[str, Loader]]] = {
    "draft-04": _DRAFT_4,
    "draft-06": _DRAFT_6,
    "draft-07": _DRAFT_7,
    "2019-09": _SINCE_2019,
    "2020-12": _SINCE_2019,
}
