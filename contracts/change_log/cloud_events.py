"""Entries of the change log as CloudEvents 1.0 in JSON: https://github.com/cloudevents/spec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange

__all__ = ["BATCH_TYPE", "EVENT_SOURCE", "format_cloud_event", "parse_cloud_event"]

BATCH_TYPE: Final = "application/cloudevents-batch+json"
EVENT_SOURCE: Final = "/contractlog/v1/changes"
_TYPE: Final = "contractlog."  #: followed by the action
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def format_cloud_event(
    change: RecordedChange, *, source: str = EVENT_SOURCE, head: ChangeLogHead | None = None
) -> dict[str, Any]:
    """Return the event of an entry.

    Its id is the hash of the entry, so that an entry that is delivered twice has the same id.

    Args:
        change: the entry.
        source: URI reference of the registry.
        head: the head of the log when the event is sent, as extension ``contractloghead``.
    """
    event = {
        "specversion": "1.0",
        "id": change.hash or str(change.sequence),
        "source": source,
        "type": _TYPE + change.action,
        "subject": change.target,
        "time": _format_time(change.at),
        "datacontenttype": "application/json",
        "sequence": str(change.sequence),
        "data": change.body(),
    }
    if not change.target:
        del event["subject"]  # it may not be empty
    return event if head is None else event | {"contractloghead": str(head)}


def _format_time(at: int) -> str:
    """Format milliseconds since 1970 by RFC 3339; a time that no calendar has becomes the first one."""
    try:
        time = _EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        time = _EPOCH
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_cloud_event(text: str | bytes) -> RecordedChange:
    """Return the entry of an event that has only what the hash covers, besides source and head.

    Raises:
        ValueError: it is not an event of an entry, has other members, or has a name twice.
    """
    try:
        event = json.loads(text, object_pairs_hook=_read_object, parse_constant=_reject_constant)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(event, Mapping) or event.get("specversion") != "1.0":
        raise ValueError("it is not a CloudEvent 1.0 in JSON")
    change = RecordedChange.from_body(event.get("data"))
    _require_equal(event, format_cloud_event(change), free=frozenset({"source", "data", "contractloghead"}))
    _require_equal(event["data"], change.body())
    return change


def _require_equal(
    members: Mapping[str, Any], expected: Mapping[str, Any], *, free: frozenset[str] = frozenset()
) -> None:
    for name in sorted((members.keys() | expected.keys()) - free):
        if members.get(name) != expected.get(name):
            raise ValueError(f"`{name}` is not that of its data" if free else f"`{name}` is no member of an entry")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return members


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
