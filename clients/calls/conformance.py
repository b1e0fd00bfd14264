"""Calls about audits of topics, an extension of contractlog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contractlog.clients.calls.call import Call, PathParameter
from contractlog.contracts.audit.report import Part, TopicPart

__all__ = ["conformance", "publish_conformance"]


def conformance(topic: str, *, part: Part | None = None) -> Call[list[TopicPart]]:
    """GET /contractlog/v1/conformance/{topic}."""
    return Call(
        "GET",
        ("contractlog", "v1", "conformance", PathParameter(topic)),
        list,
        () if part is None else (("part", part),),
    )


def publish_conformance(topic: str, entry: TopicPart) -> Call[Mapping[str, Any]]:
    """POST /contractlog/v1/conformance/{topic}; the response is the entry with the time of its recording."""
    return Call("POST", ("contractlog", "v1", "conformance", PathParameter(topic)), dict, body=entry)
