"""Error messages worded as those of the package ``jsonschema``, which users' programs may search for.

Validity is decided elsewhere. Here a bounded number of steps is spent to produce the message; if they do not suffice,
or the package finds no error, no message is given. Patterns are matched by the engine that decided, never by Python's,
which a hostile text can occupy forever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import jsonschema_rs
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7

from contractlog.compatibility.schema import ParsedSchema
from contractlog.serdes.json_schema.lossless_json import compact_json
from contractlog.serdes.json_schema.schema_preparation import MAX_BACKTRACKING, collect_documents, json_schema_of

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["MAX_BYTES", "MAX_STEPS", "JsonschemaWording"]

MAX_STEPS: Final = 2_000  #: most keywords that are evaluated
MAX_BYTES: Final = 64 * 1024  #: largest document that is examined, as each step may write it out
_PATTERN_OPTIONS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=MAX_BACKTRACKING)
_PATTERN_DEPENDENT: Final = frozenset({"additionalProperties", "unevaluatedProperties"})


class _StepsExhausted(Exception):
    """The steps are used up, or the next one would not be safe."""


class JsonschemaWording:
    """Producer of messages for one schema.

    Raises:
        ValueError: the package is not installed.
    """

    def __init__(self, parsed: ParsedSchema, *, formats: bool = False) -> None:
        try:
            from jsonschema import FormatChecker, validators  # noqa: PLC0415 -- an optional package
        except ImportError:
            raise ValueError("validate.words jsonschema needs the package jsonschema: install it") from None
        base, contents, resources = collect_documents(json_schema_of(parsed), parsed.referenced)
        texts = {**resources, base: contents}
        named_resources = [(name, Resource.from_contents(text, DRAFT7)) for name, text in texts.items()]
        kind = validators.validator_for(contents)
        watched = {keyword: self._count_steps(keyword, check) for keyword, check in kind.VALIDATORS.items()}
        extend: Any = validators.extend
        validator = extend(kind, watched)
        checker = FormatChecker() if formats else None
        self._validator: Any = validator(
            contents, registry=Registry().with_resources(named_resources), format_checker=checker
        )
        self._matchers: dict[str, jsonschema_rs.Validator] = {}
        self._used = threading.local()

    def find_message(self, value: Any) -> str | None:
        """Return the message for a document, or None if none is available."""
        self._used.steps = 0
        try:
            if len(compact_json(value, str)) > MAX_BYTES:
                return None
            error = next(self._validator.iter_errors(value), None)
        except (_StepsExhausted, RecursionError, Unresolvable, ValueError, TypeError):
            return None
        return None if error is None else str(error.message)

    def _count_steps(self, keyword: str, check: Callable[..., Any]) -> Callable[..., Any]:
        own = {"pattern": self._pattern, "patternProperties": self._pattern_properties}.get(keyword)
        return partial(self._check_keyword, keyword, own or check)

    def _check_keyword(  # noqa: PLR0917 -- the package's order of arguments
        self,
        keyword: str,
        check: Callable[..., Any],
        validator: Any,
        argument: Any,
        value: Any,
        schema: Mapping[str, Any],
    ) -> Iterator[ValidationError]:
        self._used.steps += _check_cost(keyword, value)
        if self._used.steps > MAX_STEPS or (keyword in _PATTERN_DEPENDENT and "patternProperties" in schema):
            raise _StepsExhausted
        yield from check(validator, argument, value, schema) or ()

    def _pattern(self, validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
        from jsonschema.exceptions import ValidationError  # noqa: PLC0415

        del schema
        if validator.is_type(value, "string") and not self._matches(pattern, value):
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    def _pattern_properties(self, validator: Any, patterns: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        del schema
        if not validator.is_type(value, "object"):
            return
        for pattern, inner in patterns.items():
            for name, member in value.items():
                if self._matches(pattern, name):
                    yield from validator.descend(member, inner, path=name, schema_path=pattern)

    def _matches(self, pattern: str, text: str) -> bool:
        self._used.steps += 1
        matcher = self._matchers.get(pattern)
        if matcher is None:
            validator = jsonschema_rs.Draft7Validator(
                {"pattern": pattern}, pattern_options=_PATTERN_OPTIONS, offline=True
            )
            matcher = self._matchers[pattern] = validator
        return matcher.is_valid(text)


def _check_cost(keyword: str, value: Any) -> int:
    """Return the cost of a check, which grows with the square of the items if it compares all pairs."""
    return 1 + len(value) ** 2 // 100 if keyword == "uniqueItems" and isinstance(value, list) else 1
