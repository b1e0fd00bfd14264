"""All versions of a registry, by subject, id, guid and record name."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from contractlog.compatibility.identifiers import topic_subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaType

__all__ = ["VersionCatalogue"]

_NAMED_TYPES: Final = frozenset({"record", "enum", "fixed", "error"})


@dataclass(frozen=True)
class VersionCatalogue:
    """The versions of every subject in the default context, ascending, soft-deleted ones included."""

    versions: Mapping[str, Sequence[RegisteredSchema]]

    @cached_property
    def ids(self) -> frozenset[int]:
        """Every schema id."""
        return frozenset(self.subjects)

    @cached_property
    def subjects(self) -> Mapping[int, tuple[tuple[str, int], ...]]:
        """Every (subject, version) of each id, sorted by subject; the highest version of each subject."""
        versions_by_id: dict[int, dict[str, int]] = {}
        for subject, versions in sorted(self.versions.items()):
            for version in versions:
                versions_by_id.setdefault(int(version.schema_id), {})[subject] = int(version.version or 0)
        return {schema_id: tuple(uses.items()) for schema_id, uses in versions_by_id.items()}

    @cached_property
    def by_id(self) -> Mapping[int, RegisteredSchema]:
        """One version of each id."""
        return {int(version.schema_id): version for versions in self.versions.values() for version in versions}

    @cached_property
    def guids(self) -> Mapping[bytes, tuple[int, ...]]:
        """The ids of each guid, ascending; registries before Confluent's 8.0 have no guids."""
        ids_by_guid: dict[bytes, set[int]] = {}
        for versions in self.versions.values():
            for version in versions:
                with suppress(ValueError):
                    ids_by_guid.setdefault(UUID(version.guid or "").bytes, set()).add(int(version.schema_id))
        return {guid: tuple(sorted(ids)) for guid, ids in ids_by_guid.items()}

    @cached_property
    def record_subjects(self) -> frozenset[str]:
        """Subjects named after the record of one of their versions."""
        return frozenset(name for name, records in self._records.items() if name in records)

    def topic_record_subjects(self, topic: str) -> frozenset[str]:
        """Return the subjects named ``<topic>-<record>`` after the record of one of their versions."""
        return frozenset(self._topic_record_subjects.get(topic, ()))

    def ids_of(self, subjects: frozenset[str] | None) -> frozenset[int]:
        """Return the ids of all versions of the given subjects, or of all subjects if None."""
        if subjects is None:
            return self.ids
        histories = (self.versions.get(subject, ()) for subject in subjects)
        return frozenset(int(version.schema_id) for versions in histories for version in versions)

    @cached_property
    def _topic_record_subjects(self) -> Mapping[str, Sequence[str]]:
        by_topic: defaultdict[str, list[str]] = defaultdict(list)
        for name, records in self._records.items():
            for ending in {topic_subject("", record) for record in records}:
                if name.endswith(ending):
                    by_topic[name.removesuffix(ending)].append(name)
        return by_topic

    @cached_property
    def _records(self) -> Mapping[str, frozenset[str]]:
        return {name: frozenset(map(_record_name, versions)) for name, versions in self.versions.items()}


def _record_name(version: RegisteredSchema) -> str:
    """Return the full name of an Avro named type or the title of a JSON Schema; empty for others."""
    try:
        schema: Any = json.loads(version.text)
    except ValueError:
        return ""
    if version.type is SchemaType.JSON:
        title = schema.get("title") if isinstance(schema, dict) else None
        return title if isinstance(title, str) else ""
    while isinstance(schema, dict) and isinstance(schema.get("type"), dict):
        schema = schema["type"]
    if isinstance(schema, str):
        return schema  # name of a referenced type; no subject is named like a primitive
    if not isinstance(schema, dict) or schema.get("type") not in _NAMED_TYPES:
        return ""
    namespace, name = schema.get("namespace"), str(schema.get("name", ""))
    return f"{namespace}.{name}" if namespace and "." not in name else name
