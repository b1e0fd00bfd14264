"""Query parameters of contractlog's own resources.

An invalid value is rejected with the parameter's name and its bounds; it is never clamped.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from contractlog.compatibility.errors import InvalidQuery, InvalidSubject
from contractlog.compatibility.identifiers import MAX_VERSION, Subject
from contractlog.registry.http.path_values import parse_subject

__all__ = [
    "MAX_INTEGER",
    "BoundedInteger",
    "StrictBoolean",
    "StrictParameters",
    "enum_schema",
    "parse_enum",
    "parse_integer",
    "parse_subject_version",
]

N = TypeVar("N", bound=StrEnum)
MAX_INTEGER: Final = 10**18 - 1  #: the largest integer that is accepted
_DIGITS: Final = 18
_LATEST: Final = frozenset({"latest", "-1"})


def parse_integer(parameter: str, text: str, *, default: int, minimum: int, maximum: int) -> int:
    """Parse an integer; empty means the default.

    Raises:
        InvalidQuery: it is not an integer, or out of bounds.
    """
    if text == "":
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS and minimum <= int(text) <= maximum):
        raise InvalidQuery(parameter=parameter, detail=f"it must be an integer from {minimum} to {maximum}")
    return int(text)


@dataclass(frozen=True, slots=True)
class BoundedInteger:
    """Annotation of an integer parameter: parses it within its bounds and documents them."""

    parameter: str
    default: int
    minimum: int
    maximum: int

    def read(self, text: object) -> int:
        """Parse the parameter.

        Raises:
            InvalidQuery: it is not an integer within the bounds.
        """
        return parse_integer(
            self.parameter, str(text), default=self.default, minimum=self.minimum, maximum=self.maximum
        )

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Make pydantic parse the value with ``read``."""
        return core_schema.no_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the parameter in ``openapi.yaml``."""
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class StrictBoolean:
    """Annotation of a parameter that is ``true`` or ``false``, in any case."""

    parameter: str
    default: bool

    def read(self, text: object) -> bool:
        """Parse the parameter; empty means the default.

        Raises:
            InvalidQuery: it is neither.
        """
        word = str(text).lower()
        if word not in {"", "true", "false"}:
            raise InvalidQuery(parameter=self.parameter, detail="it must be `true` or `false`")
        return word == "true" if word else self.default

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Make pydantic parse the value with ``read``."""
        return core_schema.no_info_before_validator_function(self.read, handler(source))


def enum_schema(values: Iterable[str]) -> WithJsonSchema:
    """Describe a parameter that accepts one of a few words; ``named`` parses it."""
    return WithJsonSchema({"type": "string", "enum": list(values)})


async def _reject_parameters(request: Request) -> None:
    """Reject unknown and repeated parameters, of which one or a value would be silently ignored.

    Raises:
        InvalidQuery: there is one.
    """
    if not request.url.query:
        return
    accepted = list(_parameter_names(request.scope["route"].dependant))
    for parameter, value in request.query_params.items():
        if value and parameter not in accepted:
            others = f"; known parameters: {', '.join(accepted)}" if accepted else ""
            raise InvalidQuery(parameter=parameter, detail=f"it is unknown here{others}")
    names = Counter(parameter for parameter, _ in request.query_params.multi_items())
    for parameter in accepted:
        if names[parameter] > 1:
            raise InvalidQuery(parameter=parameter, detail="it is repeated")


def _parameter_names(dependant: Dependant) -> Iterator[str]:
    """Yield the parameters that a route and its dependencies accept, in the order of its signature."""
    aliases = {field.name: (field.alias,) for field in dependant.query_params}
    inner = {dependency.name: dependency for dependency in dependant.dependencies if dependency.name}
    for name in inspect.signature(dependant.call).parameters if dependant.call else ():
        yield from aliases.get(name) or (_parameter_names(inner[name]) if name in inner else ())


#: For all our own routes, and no others: the reference ignores unknown and repeated parameters, and so do the routes of
#: its API.
StrictParameters: Final = Depends(_reject_parameters)


def parse_subject_version(parameter: str, text: str) -> tuple[Subject, int | None]:
    """Parse ``subject:version``; ``latest`` and -1 give None as the version.

    Raises:
        InvalidQuery: it is not of this form.
    """
    name, _, number = text.rpartition(":")
    if number.lower() in _LATEST:
        return _parse_subject(parameter, name), None
    if number.isascii() and number.isdigit() and len(number) <= _DIGITS and 1 <= int(number) <= MAX_VERSION:
        return _parse_subject(parameter, name), int(number)
    raise InvalidQuery(parameter=parameter, detail="it must be SUBJECT:VERSION, where VERSION is a number or `latest`")


def _parse_subject(parameter: str, name: str) -> Subject:
    if not name:
        raise InvalidQuery(parameter=parameter, detail="it has no subject")
    try:
        return parse_subject(name)
    except InvalidSubject as error:
        raise InvalidQuery(parameter=parameter, detail=error.message) from None


def parse_enum(parameter: str, text: str, kind: type[N]) -> N | None:
    """Parse one of a few names, in any case; empty gives None.

    Raises:
        InvalidQuery: it is none of them.
    """
    if not text:
        return None
    try:
        return kind(text.upper())
    except ValueError:
        raise InvalidQuery(parameter=parameter, detail="it must be one of " + ", ".join(kind)) from None
