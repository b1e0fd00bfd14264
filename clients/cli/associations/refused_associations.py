"""Reasons why associations of the manifest cannot be set, found before anything is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from contractlog.clients.calls.associations import Association
from contractlog.clients.cli.associations.association_keys import Key, describe_part
from contractlog.clients.cli.associations.file_facts import FileFacts
from contractlog.clients.cli.associations.planned_association import PlannedAssociation, associate_subject, find_draft
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.registry_lookups import list_live
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.registry import Registry
from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.errors import (
    AssociationTypeExists,
    Conflict,
    Forbidden,
    IncompatibleSchema,
    InvalidRuleSet,
    InvalidSchema,
    NoActiveVersion,
    NotFound,
    OperationNotPermitted,
    RegistryError,
    SubjectReadOnly,
    Unprocessable,
)
from contractlog.compatibility.identifiers import Subject, topic_subject
from contractlog.compatibility.mode import READ_ONLY_MODES

__all__ = ["RefusedAssociation", "find_refused_associations", "locate_refused_association"]

_TOPIC_NAMES: Final = (
    "the API of registries allows associations only for topics named with letters, digits, `_` and `-`: remove the "
    "entry, and use a subject that follows from the topic and the subject name strategy"
)
_WITHOUT_VERSION: Final = "this subject has neither a version nor a file"


@dataclass(frozen=True, slots=True)
class RefusedAssociation:
    """An association of the manifest that cannot be set."""

    change: PlannedAssociation
    reason: str
    is_permission: bool = False  #: due to the caller's permissions or a mode

    def describe(self) -> str:
        """Return a sentence, which follows the line of the manifest."""
        change = self.change
        part = describe_part(change.resource.name, change.part)
        return f"{part} cannot be bound to `{change.subject}`: {self.reason}"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "line": self.change.line,
            "namespace": self.change.resource.namespace,
            "topic": self.change.resource.name,
            "part": self.change.part,
            "subject": self.change.subject,
            "reason": self.reason,
        }


def locate_refused_association(manifest: Manifest | None, problem: RefusedAssociation) -> str:
    """Return a problem with its line in the manifest, for people."""
    position = "" if manifest is None else f"{manifest.path}:{problem.change.line}: "
    return f"{position}{problem.describe()}"


def find_refused_associations(
    registry: Registry,
    access: WriteAccess,
    pending: Sequence[PlannedAssociation],
    wanted: Sequence[PlannedAssociation],
    existing: Mapping[Key, Association],
    *,
    facts: FileFacts,
    can_rehearse: bool,
) -> Iterator[RefusedAssociation]:
    """Yield what cannot be set, by the rules for associations, else by a rehearsal of the registry.

    Args:
        registry: the registry.
        access: the modes of its subjects.
        pending: the associations to be set.
        wanted: all associations of the manifest.
        existing: those of the registry.
        facts: the facts about the files of the command.
        can_rehearse: whether the registry has associations.
    """
    topics: dict[tuple[str, str], list[PlannedAssociation]] = defaultdict(list)
    for change in wanted:
        topics[change.key[:2]].append(change)
    for change in pending:
        reasons = chain(
            _find_contradictions(change, topics[change.key[:2]], wanted),
            _find_conflicts(change, existing),
            _find_obstacles(registry, change, facts),
        )
        reason = next(reasons, None)
        if reason is not None:
            yield RefusedAssociation(change, reason)
        elif can_rehearse and (problem := _rehearse(registry, access, change, facts)) is not None:
            yield problem


def _find_contradictions(
    change: PlannedAssociation, of_topic: Iterable[PlannedAssociation], wanted: Iterable[PlannedAssociation]
) -> Iterator[str]:
    """Yield the reasons why an association contradicts itself or another entry of the manifest."""
    namespace, topic, part = change.key
    own = str(Subject(f".{namespace}", topic_subject(topic, part)))
    is_strong = change.lifecycle is Lifecycle.STRONG
    if not namespace:
        yield "the topic has no namespace: set `namespace` for it or for the environment (for Kafka, the cluster id)"
    if is_strong and change.subject != own:
        yield f"a topic can own (STRONG) only the subject `{own}`"
    if not is_strong and change.subject == own:
        yield "this is the topic's own subject: set the lifecycle STRONG"
    for other in of_topic:
        if other.line != change.line and other.part == part:
            yield f"line {other.line} binds it, too"
        if other.lifecycle is not change.lifecycle:
            yield f"all associations of a topic have one lifecycle, and line {other.line} has {other.lifecycle}"
        if other.resource.id != change.resource.id:
            yield f"the topic has another id in line {other.line}"
    for other in wanted:
        if other.subject == change.subject and other.key != change.key and other.lifecycle is Lifecycle.STRONG:
            yield f"line {other.line} lets topic `{other.resource.name}` own this subject (STRONG)"


def _find_conflicts(change: PlannedAssociation, existing: Mapping[Key, Association]) -> Iterator[str]:
    """Yield the existing associations that prevent a change, as reasons."""
    for key, other in existing.items():
        part = describe_part(key[1], key[2])
        if key[:2] == change.key[:2]:
            if other.resource_id != change.resource.id:
                yield f"the registry has the id `{other.resource_id}` for the topic: set it as `topic_id`"
            if other.lifecycle != change.lifecycle:
                yield f"{part} is bound with the lifecycle {other.lifecycle}, which is the same for a whole topic"
        elif other.subject == change.subject and Lifecycle.STRONG in {other.lifecycle, change.lifecycle}:
            yield f"{part} is bound to this subject with the lifecycle {other.lifecycle}"


def _find_obstacles(registry: Registry, change: PlannedAssociation, facts: FileFacts) -> Iterator[str]:
    """Yield the reasons why the subject cannot be bound, although no association prevents it."""
    if change.lifecycle is Lifecycle.STRONG and change.subject in facts.referrers:
        yield f"`{facts.referrers[change.subject]}` refers to this subject, which a topic cannot own then"
    if (
        change.before is not None
        and change.subject not in facts.first_drafts
        and not list_live(registry, change.subject)
    ):
        yield _WITHOUT_VERSION


def _rehearse(
    registry: Registry, access: WriteAccess, change: PlannedAssociation, facts: FileFacts
) -> RefusedAssociation | None:
    """Let the registry try a change without making it, and return the reason if it cannot."""
    before = change.before
    # of a part that is bound, the registry rejects a second association before it looks at the mode
    for subject in (before, change.subject) if before is not None else ():
        if subject not in facts.writable and access.read_mode(subject) in READ_ONLY_MODES:
            error = SubjectReadOnly(subject=subject, context=Subject.parse(subject).context)
            return RefusedAssociation(change, str(error), is_permission=True)
    try:
        if before is not None and access.read_mode(before) not in READ_ONLY_MODES:
            registry.unbind(change.resource.id, association_types=[change.part], dry_run=True)
        associate_subject(registry, change, find_draft(registry, change, facts.first_drafts), dry_run=True)
    except (InvalidSchema, InvalidRuleSet, IncompatibleSchema):  # or what it refers to is not registered yet
        return None  # the check of the file says what is wrong with its schema
    except RegistryError as error:
        return _explain_rehearsal_error(error, change, facts)
    return None


def _explain_rehearsal_error(
    error: RegistryError, change: PlannedAssociation, facts: FileFacts
) -> RefusedAssociation | None:
    """Return the problem that an error of a rehearsal means, or None if earlier steps solve it.

    Raises:
        RegistryError: the error is not about the association.
    """
    match error:
        case Forbidden():
            return RefusedAssociation(change, str(error), is_permission=True)
        case OperationNotPermitted():
            is_writable = change.subject in facts.writable
            return None if is_writable else RefusedAssociation(change, str(error), is_permission=True)
        case NoActiveVersion() | NotFound():
            return None if change.subject in facts.first_drafts else RefusedAssociation(change, _WITHOUT_VERSION)
        case AssociationTypeExists() if change.before is not None:
            return None
        case Unprocessable() if not re.fullmatch(r"[\w-]*", change.resource.name):
            return RefusedAssociation(change, f"{error}; {_TOPIC_NAMES}")
        case Conflict() | Unprocessable():
            return RefusedAssociation(change, str(error))
    raise error
