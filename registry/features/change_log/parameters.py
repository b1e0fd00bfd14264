"""Query parameters of the change log."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Query
from pydantic import BeforeValidator, WithJsonSchema

from contractlog.compatibility.errors import InvalidQuery
from contractlog.registry.features.change_log.service import MAX_WAIT_SECONDS
from contractlog.registry.http.extension_parameters import MAX_INTEGER, parse_integer

__all__ = ["Since", "Wait"]

_SECONDS: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)?")


def _parse_since(text: object) -> int | None:
    if str(text).lower() == "latest":
        return None
    try:
        return parse_integer("since", str(text), default=0, minimum=0, maximum=MAX_INTEGER)
    except InvalidQuery:
        detail = f"it must be `latest`, or an integer from 0 to {MAX_INTEGER}"
        raise InvalidQuery(parameter="since", detail=detail) from None


def _parse_wait(text: object) -> float:
    seconds = float(str(text) or 0) if _SECONDS.fullmatch(str(text)) else -1.0
    if not 0 <= seconds <= MAX_WAIT_SECONDS:
        raise InvalidQuery(parameter="wait", detail=f"it must be a number of seconds from 0 to {MAX_WAIT_SECONDS:g}")
    return seconds


Since = Annotated[
    int | None,
    Query(description="Return the changes after the one with this number; 0 returns all changes, `latest` none."),
    BeforeValidator(_parse_since),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_INTEGER}, {"const": "latest"}]}),
]


Wait = Annotated[
    float,
    Query(description="Maximum number of seconds to wait for a change if there is none yet."),
    BeforeValidator(_parse_wait),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": MAX_WAIT_SECONDS}),
]
