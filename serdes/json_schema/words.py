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
from contractlog.serdes.json_schema.documents import compact
from contractlog.serdes.json_schema.validator import BACKTRACKING, documents, tree

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["MOST_BYTES", "MOST_STEPS", "Words"]

MOST_STEPS: Final = 2_000  #: most keywords that are evaluated
MOST_BYTES: Final = 64 * 1024  #: largest document that is examined, as each step may write it out
_OPTIONS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKING)
_LEANING_ON_PATTERNS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})


class _Exhausted(Exception):
    """The steps are used up, or the next one would not be safe."""


class Words:
    """Producer of messages for one schema.

    Raises:
        ValueError: the package is not installed.
    """

    def __init__(self, parsed: ParsedSchema, *, formats: bool = False) -> None:
        try:
            from jsonschema import FormatChecker, validators  # noqa: PLC0415 -- an optional package
        except ImportError:
            raise ValueError("validate.words jsonschema needs the package jsonschema: install it") from None
        base, contents, resources = documents(tree(parsed), parsed.referenced)
        texts = {**resources, base: contents}
        known = [(name, Resource.from_contents(text, DRAFT7)) for name, text in texts.items()]
        kind = validators.validator_for(contents)
        watched = {keyword: self._watched(keyword, check) for keyword, check in kind.VALIDATORS.items()}
        extend: Any = validators.extend
        validator = extend(kind, watched)
        checker = FormatChecker() if formats else None
        self._validator: Any = validator(contents, registry=Registry().with_resources(known), format_checker=checker)
        self._matchers: dict[str, jsonschema_rs.Validator] = {}
        self._spent = threading.local()

    def say(self, value: Any) -> str | None:
        """Return the message for a document, or None if none is available."""
        self._spent.steps = 0
        try:
            if len(compact(value, str)) > MOST_BYTES:
                return None
            error = next(self._validator.iter_errors(value), None)
        except (_Exhausted, RecursionError, Unresolvable, ValueError, TypeError):
            return None
        return None if error is None else str(error.message)

    def _watched(self, keyword: str, check: Callable[..., Any]) -> Callable[..., Any]:
        own = {"pattern": self._pattern, "patternProperties": self._pattern_properties}.get(keyword)
        return partial(self._step, keyword, own or check)

    def _step(  # noqa: PLR0917 -- the package's order of arguments
        self, keyword: str, check: Callable[..., Any], validator: Any, asked: Any, value: Any, schema: Mapping[str, Any]
    ) -> Iterator[ValidationError]:
        self._spent.steps += _cost(keyword, value)
        if self._spent.steps > MOST_STEPS or (keyword in _LEANING_ON_PATTERNS and "patternProperties" in schema):
            raise _Exhausted
        yield from check(validator, asked, value, schema) or ()

    def _pattern(self, validator: Any, asked: str, value: Any, schema: Any) -> Iterator[ValidationError]:
        from jsonschema.exceptions import ValidationError  # noqa: PLC0415

        del schema
        if validator.is_type(value, "string") and not self._matches(asked, value):
            yield ValidationError(f"{value!r} does not match {asked!r}")

    def _pattern_properties(self, validator: Any, asked: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        del schema
        if not validator.is_type(value, "object"):
            return
        for pattern, inner in asked.items():
            for name, member in value.items():
                if self._matches(pattern, name):
                    yield from validator.descend(member, inner, path=name, schema_path=pattern)

    def _matches(self, pattern: str, text: str) -> bool:
        self._spent.steps += 1
        known = self._matchers.get(pattern)
        if known is None:
            made = jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=_OPTIONS, offline=True)
            known = self._matchers[pattern] = made
        return known.is_valid(text)


def _cost(keyword: str, value: Any) -> int:
    """Return the cost of a check, which grows with the square of the items if it compares all pairs."""
    return 1 + len(value) ** 2 // 100 if keyword == "uniqueItems" and isinstance(value, list) else 1
