"""The field that ``SUBJECT[:FIELD]`` names, in topics of a lineage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contractlog.clients.cli.impact.field_names import list_possible_topics, split_field_name
from contractlog.clients.cli.impact.known_lineage import KnownLineage
from contractlog.clients.cli.verb_parser import suggest_name
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import Subject, split_topic_subject
from contractlog.compatibility.name_lists import list_first
from contractlog.contracts.lineage.field_paths import is_same_value
from contractlog.contracts.lineage.lineage_reach import ReachedField, find_reached_fields

__all__ = ["ChangedField", "find_changed_field", "find_reach", "find_topics"]

_MAX_NAMED: Final = 8


@dataclass(frozen=True, slots=True)
class ChangedField:
    """A field that is to be changed, in the topics whose values have it."""

    subject: str
    topics: tuple[str, ...]
    field: str  #: empty: all fields

    @property
    def name(self) -> str:
        """``SUBJECT[:FIELD]``."""
        return f"{self.subject}:{self.field}" if self.field else self.subject


def find_changed_field(text: str, lineage: KnownLineage) -> ChangedField:
    """Parse ``SUBJECT[:FIELD]``, and find its topics.

    Raises:
        UsageError: the lineage has no such topic or field; the message has similar names.
    """
    subject, field = split_field_name(text)
    topics = find_topics(subject, lineage)
    if not field and text != subject:
        raise UsageError(f"`{text}` names no field: write SUBJECT:FIELD, or SUBJECT for all fields")
    if not topics:
        named = [*lineage.fields, *lineage.subjects]
        names = reversed(list_possible_topics(subject))
        nearest = next(filter(None, (suggest_name(each, named) for each in names)), "")
        listed = f": it has {list_first(sorted(lineage.fields), _MAX_NAMED)}" if lineage.fields else " and no other"
        raise UsageError(f"`{lineage.name}` has no topic of the subject `{subject}`{nearest or listed}")
    known_fields = {each for topic in topics for each in lineage.fields[topic]}
    if field and not any(is_same_value(each, field) for each in known_fields):
        listed = f": it has {list_first(sorted(known_fields), _MAX_NAMED)}" if known_fields else ""
        nearest = suggest_name(field, known_fields) or listed
        raise UsageError(f"`{lineage.name}` has no field `{field}` of `{topics[0]}`{nearest}")
    return ChangedField(subject, topics, field)


def find_topics(subject: str, lineage: KnownLineage) -> tuple[str, ...]:
    """Return the topics whose values have schemas of a subject; a topic itself may be given, too.

    Raises:
        UsageError: the subject is of record keys.
    """
    uses = lineage.subjects.get(subject, frozenset())
    topics = {topic for topic, part in uses if part == "value"}
    name = Subject.parse(subject).name
    named = split_topic_subject(name)
    is_for_keys = named is not None and named[1] == "key"
    if not topics and name not in lineage.fields and (uses or is_for_keys):
        raise UsageError(f"`{subject}` is a subject of record keys, whose fields have no lineage yet")
    if not topics:
        topics = {each for each in list_possible_topics(subject) if each in lineage.fields}
    return tuple(sorted(topics))


def find_reach(changed: ChangedField, lineage: KnownLineage) -> list[ReachedField]:
    """Return the fields that a change reaches, by depth; of several topics, each field once."""
    reached: dict[tuple[str, str], ReachedField] = {}
    for topic in changed.topics:
        for each in find_reached_fields(lineage.edges, topic, changed.field):
            key = each.topic, each.field
            if key not in reached or each.depth < reached[key].depth:
                reached[key] = each
    return sorted(reached.values(), key=lambda each: (each.depth, each.topic, each.field))
