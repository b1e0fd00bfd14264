"""Parameters of contractlog's own resources: what cannot be read is told by name, not taken for another address."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, TypeVar

from fastapi import Query
from pydantic import BeforeValidator, WithJsonSchema

from contractlog.compatibility.errors import InvalidQuery, InvalidSubject
from contractlog.compatibility.names import MAX_VERSION, Subject
from contractlog.registry.paths import subject_of

__all__ = ["Since", "Wait", "named", "numbered", "one_version", "whole"]

N = TypeVar("N", bound=StrEnum)
_DIGITS: Final = 18
_LATEST: Final = frozenset({"latest", "-1"})


def whole(parameter: str, text: str, *, default: int, least: int, most: int) -> int:
    """Read a whole number; empty means the default, and more than the most means the most.

    Raises:
        InvalidQuery: it is none, or too small.
    """
    if text == "":
        return default
    if not (text.isascii() and text.isdigit()) or int(text[:_DIGITS]) < least:
        raise InvalidQuery(parameter=parameter, detail=f"it is a whole number from {least} to {most}")
    return min(int(text), most) if len(text) <= _DIGITS else most


def numbered(parameter: str, *, default: int, least: int = 0, most: int) -> BeforeValidator:
    """Read a parameter that is a whole number."""
    return BeforeValidator(lambda text: whole(parameter, str(text), default=default, least=least, most=most))


def _since(text: object) -> int | None:
    if str(text).lower() in _LATEST:
        return None
    return whole("since", str(text), default=0, least=0, most=2**62)


def _seconds(text: object) -> float:
    try:
        seconds = float(str(text) or 0)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise InvalidQuery(parameter="wait", detail="it is a number of seconds")
    return seconds


Since = Annotated[
    int | None,
    Query(),
    BeforeValidator(_since),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"const": "latest"}]}),
]
Wait = Annotated[float, Query(), BeforeValidator(_seconds), WithJsonSchema({"type": "number", "minimum": 0})]


def one_version(parameter: str, text: str) -> tuple[Subject, int | None]:
    """Read ``subject:version``; ``latest`` is None, and so is no version at all.

    Raises:
        InvalidQuery: it is nothing of this kind.
    """
    name, _, number = text.rpartition(":")
    if number.lower() in _LATEST:
        return _subject(parameter, name), None
    if number.isascii() and number.isdigit() and name and 1 <= int(number[:_DIGITS]) <= MAX_VERSION:
        return _subject(parameter, name), int(number)
    raise InvalidQuery(parameter=parameter, detail="it reads SUBJECT:VERSION, with a number or `latest` as version")


def _subject(parameter: str, name: str) -> Subject:
    if not name:
        raise InvalidQuery(parameter=parameter, detail="it names no subject")
    try:
        return subject_of(name)
    except InvalidSubject as error:
        raise InvalidQuery(parameter=parameter, detail=error.message) from None


def named(parameter: str, text: str, kind: type[N]) -> N | None:
    """Read one of a few names, in any case; empty means none.

    Raises:
        InvalidQuery: it is none of them.
    """
    if not text:
        return None
    try:
        return kind(text.upper())
    except ValueError:
        raise InvalidQuery(parameter=parameter, detail="it is one of " + ", ".join(kind)) from None
