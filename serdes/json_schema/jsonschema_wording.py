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
from contractlog.serdes.json_schema.exact_json import compact_json
from contractlog.serdes.json_schema.schema_preparation import MAX_BACKTRACKING, collect_documents, json_schema_of

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["MAX_BYTES", "MAX_STEPS", "JsonschemaWording"]

MAX_STEPS: Final = 2_500  #: most keywords and subschemas that are evaluated
MAX_BYTES: Final = 64 * 1024  #: largest document that is examined, as each step may write it out
_MESSAGE_SIZE: Final = 1_000  #: characters of a message, which may quote the document, that cost a step
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
        self._extend: Any = validators.extend
        self._counting_kinds: dict[Any, Any] = {}
        self._matchers: dict[str, jsonschema_rs.Validator] = {}
        self._used = threading.local()
        kind = self._make_counting_kind(validators.validator_for(contents))
        checker = FormatChecker() if formats else None
        self._validator: Any = kind(
            contents, registry=Registry().with_resources(named_resources), format_checker=checker
        )

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

    def _make_counting_kind(self, kind: Any) -> Any:
        """Return a class of validators like another that counts its steps.

        The package would use a class of its own for each subschema that names its draft, as the target of ``"#"`` does.
        """
        counting = self._counting_kinds.get(kind)
        if counting is None:
            watched = {keyword: self._count_steps(keyword, check) for keyword, check in kind.VALIDATORS.items()}
            counting = self._counting_kinds[kind] = self._extend(kind, watched)
            self._counting_kinds[counting] = counting
            counting.evolve = self._wrap_evolve(counting.evolve)
        return counting

    def _wrap_evolve(self, evolve: Callable[..., Any]) -> Callable[..., Any]:
        def evolve_and_count(validator: Any, **changes: Any) -> Any:
            self._add_steps(1)
            evolved = evolve(validator, **changes)
            counting = self._make_counting_kind(type(evolved))
            return evolved if type(evolved) is counting else _change_kind(evolved, counting)

        return evolve_and_count

    def _add_steps(self, steps: int) -> None:
        self._used.steps += steps
        if self._used.steps > MAX_STEPS:
            raise _StepsExhausted

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
        self._add_steps(_check_cost(keyword, argument, value))
        if keyword in _PATTERN_DEPENDENT and "patternProperties" in schema:
            raise _StepsExhausted
        for error in check(validator, argument, value, schema) or ():
            self._add_steps(len(error.message) // _MESSAGE_SIZE)
            yield error

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
        self._add_steps(1)
        matcher = self._matchers.get(pattern)
        if matcher is None:
            validator = jsonschema_rs.Draft7Validator(
                {"pattern": pattern}, pattern_options=_PATTERN_OPTIONS, offline=True
            )
            matcher = self._matchers[pattern] = validator
        return matcher.is_valid(text)


def _check_cost(keyword: str, argument: Any, value: Any) -> int:
    """Return the cost of a check, which grows with the square of the items if it compares all pairs."""
    cost = 1 + (len(argument) // 100 if isinstance(argument, list | dict) else 0)
    return cost + (len(value) ** 2 // 100 if keyword == "uniqueItems" and isinstance(value, list) else 0)


def _change_kind(validator: Any, kind: Any) -> Any:
    """Return a validator of another class with the same schema, registry and formats."""
    return kind(
        validator.schema,
        format_checker=validator.format_checker,
        registry=validator._registry,  # noqa: SLF001 -- what the package's own ``evolve`` passes on
        _resolver=validator._resolver,  # noqa: SLF001
    )
