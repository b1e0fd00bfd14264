"""Sentences about the impact of a new schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.clients.cli.check.impact import Consumer, Impact, TopicImpact
from contractlog.clients.cli.check.recorded_usage import USAGE_DAYS
from contractlog.clients.cli.output import count_noun
from contractlog.compatibility.name_lists import list_first
from contractlog.compatibility.text.number_text import format_share
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["describe_affected", "describe_impact"]

_MAX_NAMED: Final = 5  #: clients, and versions of a topic, that are named


@dataclass(frozen=True, slots=True)
class _Client:
    """The versions that a client fetched and that the new schema breaks."""

    name: str
    versions: list[int]
    last_day: str

    def describe(self) -> str:
        """Return a phrase; names come from requests, and may hold anything."""
        *others, last = map(str, sorted(self.versions))
        versions = f"versions {', '.join(others)} and {last}" if others else f"version {last}"
        return f"`{escape_line(self.name)}` reads {versions} (last on {escape_line(self.last_day)})"


def describe_impact(impact: Impact | None, subject: str, *, with_findings: bool = False) -> Iterator[str]:
    """Yield sentences about clients, then about the records of each topic; none if nothing is known.

    Args:
        impact: the impact, if it is known.
        subject: the subject.
        with_findings: whether records with a finding of their own are included.
    """
    if impact is None:
        return
    affected = describe_affected(impact, subject)
    if affected:
        yield affected
    elif impact.consumers:
        yield from _describe_unaffected(impact, impact.consumers, subject)
    reported = set() if with_findings else {finding.identity for finding in impact.findings}
    for topic in impact.topics:
        yield from _describe_records(topic, reported)


def describe_affected(impact: Impact, subject: str) -> str:
    """Return a sentence about the clients of versions that the new schema breaks; empty if none."""
    clients = _list_affected(impact.consumers or ())
    if not clients:
        return ""
    named = list_first([client.describe() for client in clients], _MAX_NAMED)
    fetched = f"that fetched `{subject}` in the last {USAGE_DAYS} days"
    verb = "reads" if len(clients) == 1 else "read"
    versions = "versions" if len({version for client in clients for version in client.versions}) > 1 else "a version"
    number = f"{len(clients):,} of {count_noun(impact.client_count, 'client')}"
    return f"{number} {fetched} {verb} {versions} that it breaks: {named}"


def _list_affected(consumers: Sequence[Consumer]) -> list[_Client]:
    clients: dict[str, _Client] = {}
    for consumer in consumers:
        if consumer.incompatible:
            client = clients.setdefault(consumer.client, _Client(consumer.client, [], consumer.last_day))
            client.versions.append(consumer.version)
    return list(clients.values())


def _describe_unaffected(impact: Impact, consumers: Sequence[Consumer], subject: str) -> Iterator[str]:
    fetched = f"fetched `{subject}` in the last {USAGE_DAYS} days"
    names = {consumer.client for consumer in consumers}
    is_certain = impact.client_count == len(names) and all(each.incompatible is not None for each in consumers)
    number = count_noun(impact.client_count, "client")
    if is_certain:
        yield f"{number} {fetched}; it is compatible with the versions that they read"
    else:
        yield f"{number} {fetched}; not all versions that they read could be compared"


def _describe_records(topic: TopicImpact, reported: set[str]) -> Iterator[str]:
    recorded = topic.recorded
    unreadable = topic.list_versions(readable=False)
    readable = sum(each.records for each in topic.list_versions(readable=True))
    as_of = f"as of the audit of {topic.audited_at}"
    if unreadable:
        if all(topic.identify(each) in reported for each in unreadable):
            return
        share = format_share(sum(each.records for each in unreadable), recorded.records)
        parts = ", ".join(f"{each.records:,} of {topic.describe_version(each)}" for each in unreadable[:_MAX_NAMED])
        more = f", and of {len(unreadable) - _MAX_NAMED:,} more versions" if len(unreadable) > _MAX_NAMED else ""
        yield f"it cannot read {share} records of {topic.name}, {as_of}: {parts}{more}"
    elif readable:
        yield f"it can read {format_share(readable, recorded.records)} records of {topic.name}, {as_of}"
