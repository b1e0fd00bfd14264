"""What records are held against: which parts of which topics by which schemas, as one value that travels to workers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa

from contractlog.clients.client import Registry
from contractlog.compatibility.errors import InvalidSchema, NotFound
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.report import PARTS, Part
from contractlog.spark_validation.columnar.limits import Limits
from contractlog.spark_validation.columnar.validate import check_part
from contractlog.spark_validation.probe import look_at
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import Source
from contractlog.spark_validation.validators import PlannedSchema, Validators

__all__ = ["Expectation", "Plan", "make_plan"]

AT_ONCE: Final = 8  #: requests to the registry
ENGINE: Final = 2  #: raised when the same range may come out differently
HEADER: Final = 5

Catalogue = Mapping[str, Sequence[RegisteredSchema]]  #: the versions of each subject, ascending


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one part of a topic's records should be."""

    audited: bool
    known: frozenset[int] = frozenset()  #: ids that are not unknown
    allowed: frozenset[int] | None = None  #: the ids of the part's subject; None when it has none
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What an audit holds records against."""

    parts: Mapping[tuple[str, Part], Expectation]
    schemas: Mapping[int, PlannedSchema]  #: those that bodies may be decoded by
    uses: Mapping[tuple[str, str, int], tuple[str, int]]  #: (topic, part, schema id) -> (subject, version)
    limits: Limits = field(default_factory=Limits)

    @property
    def fingerprint(self) -> str:
        """Equal for plans by which every record comes out the same."""
        body = {
            "engine": ENGINE,
            "limits": asdict(self.limits),
            "parts": [
                [topic, part, one.audited, sorted(one.known), None if one.allowed is None else sorted(one.allowed)]
                for (topic, part), one in sorted(self.parts.items())
            ],
            "schemas": [
                [schema_id, planned.schema.type, planned.schema.text, dict(planned.referenced)]
                for schema_id, planned in sorted(self.schemas.items())
            ],
        }
        return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()

    def validators(self, topic: str, part: Part) -> Validators:
        """Return what ``check_part`` wants to know of a part."""
        return Validators(self.parts[topic, part].known, self.schemas, self.limits)

    def notes(self) -> dict[tuple[str, str], Sequence[str]]:
        """Say what is not looked at and why, by topic and part."""
        return {(topic, part): one.notes for (topic, part), one in self.parts.items() if one.notes}


def make_plan(
    registry: Registry, source: Source, ranges: Sequence[OffsetRange], *, limits: Limits | None = None
) -> Plan:
    """Ask the registry what the topics of these ranges should hold.

    A part is held against the versions of ``<topic>-key`` or ``<topic>-value``, soft-deleted ones included. Where there
    are none, a few records are looked at: if they carry ids of this registry, the part is audited by those ids.

    Raises:
        Unreachable: the registry, or the source, does not answer.
    """
    planning = _Planning(registry, _catalogue(registry), limits or Limits())
    wanted = [(topic, part) for topic in dict.fromkeys(one.topic for one in ranges) for part in PARTS]
    nameless = dict.fromkeys(topic for topic, part in wanted if f"{topic}-{part}" not in planning.catalogue)
    bodies = look_at(source, ranges, nameless)
    parts = {
        (topic, part): planning.by_subject(topic, part)
        if f"{topic}-{part}" in planning.catalogue
        else planning.by_ids(topic, part, bodies.get((topic, part)))
        for topic, part in wanted
    }
    return Plan(parts, planning.schemas, planning.uses, planning.limits)


def _catalogue(registry: Registry) -> Catalogue:
    """Fetch every version of the default context, soft-deleted ones included; what goes meanwhile is left out."""
    subjects = [name for name in registry.subjects(deleted=True) if not name.startswith(":.")]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = zip(subjects, threads.map(lambda name: _versions(registry, name), subjects), strict=True)
        return {subject: versions for subject, versions in found if versions}


def _versions(registry: Registry, subject: str) -> list[RegisteredSchema]:
    found: list[RegisteredSchema] = []
    with suppress(NotFound):  # a subject, or one of its versions, goes while we look
        for number in registry.versions(subject, deleted=True):
            with suppress(NotFound):
                found.append(registry.version(subject, number, deleted=True))
    return found


@dataclass
class _Planning:
    """A plan in the making."""

    registry: Registry
    catalogue: Catalogue
    limits: Limits
    schemas: dict[int, PlannedSchema] = field(default_factory=dict)
    unreadable: dict[int, str] = field(default_factory=dict)
    uses: dict[tuple[str, str, int], tuple[str, int]] = field(default_factory=dict)

    @cached_property
    def every(self) -> Mapping[int, tuple[str, RegisteredSchema]]:
        """Every id with a subject and a version that it stands under."""
        return {int(one.schema_id): (name, one) for name, versions in self.catalogue.items() for one in versions}

    def by_subject(self, topic: str, part: Part) -> Expectation:
        """Hold a part against the versions of its subject."""
        subject = f"{topic}-{part}"
        allowed = frozenset(int(one.schema_id) for one in self.catalogue[subject])
        for version in self.catalogue[subject]:
            self._take(version)
            self._use(topic, part, subject, version)
        reasons = tuple(self.unreadable[schema_id] for schema_id in sorted(allowed) if schema_id in self.unreadable)
        return Expectation(audited=not reasons, known=frozenset(self.every), allowed=allowed, notes=reasons)

    def by_ids(self, topic: str, part: Part, bodies: pa.Array[Any] | None) -> Expectation:
        """Hold a part without a subject against the ids that its records carry, if the registry knows them."""
        missing = f"No subject `{topic}-{part}` has a version"
        if bodies is None or bodies.null_count == len(bodies):
            return Expectation(audited=False, notes=(f"{missing}.",))
        carried = {schema_id for schema_id in map(_carried, bodies.to_pylist()) if schema_id in self.every}
        foreign = Expectation(audited=False, notes=(f"{missing}, and its records carry no ids of this registry.",))
        if not carried:
            return foreign
        for _, version in self.every.values():
            self._take(version)
        reasons = [self.unreadable[schema_id] for schema_id in sorted(carried) if schema_id in self.unreadable]
        if reasons:
            return Expectation(audited=False, notes=(f"{missing}.", *reasons))
        known = frozenset(self.every) - frozenset(self.unreadable)
        if not self._told_by(bodies, known):
            return foreign
        for name, version in self.every.values():
            self._use(topic, part, name, version)
        return Expectation(audited=True, known=known, notes=(f"{missing}: audited by the ids that its records carry.",))

    def _told_by(self, bodies: pa.Array[Any], known: frozenset[int]) -> bool:
        """Whether it is no accident that records carry known ids: half of all do, or half of those decode by theirs.

        Plain numbers of eight bytes look like frames of low ids now and then.
        """
        validators = Validators(known, self.schemas, self.limits)
        codes = check_part(cast("pa.BinaryArray", bodies), validators, None, columns=False).codes
        carrying = int((~np.isin(codes, [Outcome.TOMBSTONE, Outcome.NOT_FRAMED, Outcome.UNKNOWN_SCHEMA_ID])).sum())
        conforming = int((codes == Outcome.CONFORMS).sum())
        present = len(bodies) - bodies.null_count
        return carrying > 0 and (carrying * 2 >= present or conforming * 2 >= carrying)

    def _take(self, version: RegisteredSchema) -> None:
        """Keep a schema that bodies may be decoded by, if it can be understood."""
        schema_id = int(version.schema_id)
        if schema_id in self.schemas or schema_id in self.unreadable:
            return
        try:
            planned = PlannedSchema(version, dict(self.registry.referenced(version.draft)))
            Validators(frozenset({schema_id}), {schema_id: planned}, self.limits)[schema_id]
        except (InvalidSchema, NotFound) as error:
            self.unreadable[schema_id] = f"Schema id {schema_id} cannot be read: {error}"
        else:
            self.schemas[schema_id] = planned

    def _use(self, topic: str, part: Part, subject: str, version: RegisteredSchema) -> None:
        self.uses[topic, part, int(version.schema_id)] = (subject, int(version.version or 0))


def _carried(body: bytes | None) -> int:
    if body is None or len(body) < HEADER or body[0] != 0:
        return 0
    return int.from_bytes(body[1:HEADER])
