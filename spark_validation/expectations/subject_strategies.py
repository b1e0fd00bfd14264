"""Subject name strategies: the subjects whose schemas a topic's records may carry, and the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from contractlog.compatibility.identifiers import topic_subject
from contractlog.contracts.audit.report import StrategyUse
from contractlog.serdes.subject_names import SubjectNameStrategyType as Kind
from contractlog.spark_validation.expectations.version_catalogue import VersionCatalogue

__all__ = ["SubjectStrategy", "choose_strategy"]

#: Minimum percentage of records with a known id that must match a strategy for it to be chosen.
MIN_MATCHING_PERCENT: Final = 95
_NAMES: Final[Mapping[Kind, str]] = {
    Kind.TOPIC: "TopicNameStrategy",
    Kind.RECORD: "RecordNameStrategy",
    Kind.TOPIC_RECORD: "TopicRecordNameStrategy",
    Kind.ASSOCIATED: "AssociatedNameStrategy",
}
_NO_STRATEGY: Final = "none"

Choice = Literal["given", "association", "evidence", "default"]


@dataclass(frozen=True, slots=True)
class SubjectStrategy:
    """The subject name strategy of one part of a topic."""

    name: str  #: as in confluent-kafka; ``none`` if no strategy fits
    chosen_by: Choice
    reason: str  #: for people
    subjects: frozenset[str] | None  #: allowed subjects; None: all

    def body(self) -> StrategyUse:
        """Return the strategy as an entry of the report."""
        return {"name": self.name, "chosen_by": self.chosen_by, "reason": self.reason}


def choose_strategy(
    topic: str,
    part: str,
    catalogue: VersionCatalogue,
    counts: Mapping[int, int],
    *,
    given: Kind | None,
    associated: Sequence[str],
) -> SubjectStrategy | None:
    """Choose the strategy of a part: the given one, else an association, else by the ids in records.

    Args:
        topic: the topic.
        part: ``key`` or ``value``.
        catalogue: the registry's versions.
        counts: number of records by schema id; ids unknown to the registry are ignored.
        given: the strategy given by the user.
        associated: the subjects associated with the topic.

    Returns:
        The strategy, or None if none is given, the part has no subject, and no record carries a known id.
    """
    named = topic_subject(topic, part)
    topic_subjects = frozenset({named})
    if given not in {None, Kind.ASSOCIATED}:
        subjects = {
            Kind.TOPIC: lambda: topic_subjects,
            Kind.RECORD: lambda: catalogue.record_subjects,
            Kind.TOPIC_RECORD: lambda: catalogue.topic_record_subjects(topic),
        }[given]()
        return SubjectStrategy(_NAMES[given], "given", "given by `--strategy`", subjects)
    if associated:
        bound = " and ".join(f"`{subject}`" for subject in sorted(associated))
        reason = f"the registry associates the topic with {bound}"
        return SubjectStrategy(_NAMES[Kind.ASSOCIATED], "association", reason, frozenset(associated))
    carried = {schema_id: records for schema_id, records in counts.items() if schema_id in catalogue.ids}
    total = sum(carried.values())
    fits = {
        kind: (_count_records(carried, catalogue.ids_of(subjects)), subjects)
        for kind, subjects in (
            (Kind.TOPIC, topic_subjects),
            (Kind.TOPIC_RECORD, catalogue.topic_record_subjects(topic)),
            (Kind.RECORD, catalogue.record_subjects),
        )
    }
    best = max((Kind.TOPIC_RECORD, Kind.RECORD), key=lambda kind: fits[kind][0])  # the first of equal ones
    fitting, subjects_of_best = fits[best]
    if total and 100 * fitting >= MIN_MATCHING_PERCENT * total and fitting > fits[Kind.TOPIC][0]:
        match = _describe_match(fitting, total, "a subject named after its record")
        return SubjectStrategy(_NAMES[best], "evidence", f"found in the records: {match}", subjects_of_best)
    if named in catalogue.versions:
        match = f"; {_describe_match(fits[Kind.TOPIC][0], total, f'`{named}`')}" if total else ""
        return SubjectStrategy(
            _NAMES[Kind.TOPIC], "default", f"the default, as `{named}` exists{match}", topic_subjects
        )
    if not total:
        return None
    reason = (
        f"`{named}` does not exist, "
        f"and no strategy fits {MIN_MATCHING_PERCENT} % of the {total:,} records with a known id"
    )
    return SubjectStrategy(_NO_STRATEGY, "evidence", f"{reason}; any known id is allowed", None)


def _describe_match(fitting: int, total: int, of: str) -> str:
    return f"{fitting:,} of {total:,} records with a known id carry one of {of}"


def _count_records(carried: Mapping[int, int], ids: frozenset[int]) -> int:
    return sum(records for schema_id, records in carried.items() if schema_id in ids)
