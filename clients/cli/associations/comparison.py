"""Comparison of the manifest's associations with those of a registry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from contractlog.clients.calls.associations import Association
from contractlog.clients.cli.associations.association_keys import (
    Key,
    association_key,
    default_topic_id,
    fetch_associations,
)
from contractlog.clients.cli.associations.file_facts import FileFacts
from contractlog.clients.cli.associations.planned_association import PlannedAssociation
from contractlog.clients.cli.associations.refused_associations import RefusedAssociation, find_refused_associations
from contractlog.clients.cli.check.write_access import WriteAccess
from contractlog.clients.cli.schema_folder.association_entries import AssociationEntry
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.registry import Registry
from contractlog.compatibility.association_values import Resource
from contractlog.compatibility.identifiers import Subject, qualify_subject

__all__ = ["AssociationComparison", "compare_associations"]


@dataclass(frozen=True, slots=True)
class AssociationComparison:
    """Differences between the associations of the manifest and of the registry."""

    existing: Mapping[Key, Association] = field(default_factory=dict)
    changes: tuple[PlannedAssociation, ...] = ()
    problems: tuple[RefusedAssociation, ...] = ()
    unlisted: tuple[Association, ...] = ()  #: of subjects that [[subjects]] matches, without an entry
    is_supported: bool = True  #: False: the registry has no associations


def compare_associations(
    registry: Registry,
    manifest: Manifest | None,
    context: str,
    facts: FileFacts,
    *,
    access: WriteAccess | None = None,
    prune: bool = False,
) -> AssociationComparison:
    """Compare the associations of the manifest with the registry, without changing any.

    Args:
        registry: the registry.
        manifest: None has no associations.
        context: of the environment, for subjects without a context.
        facts: the facts about the files of the command; unless it reads the whole folder, only associations of their
            subjects are compared.
        access: modes of subjects; None: it is not of interest what cannot be set.
        prune: whether unlisted associations are needed although the manifest has none.
    """
    if manifest is None or not (manifest.associations or prune):
        return AssociationComparison()
    wanted = [_make_change(entry, manifest, context) for entry in manifest.associations]
    associations = fetch_associations(registry)
    existing = {association_key(each): each for each in associations or ()}
    wanted = [_complete_id(change, existing.values()) for change in wanted]
    relevant = [change for change in wanted if facts.covers_folder or change.subject in facts.subjects]
    pending = list(filter(None, (_compare(change, existing) for change in relevant)))
    is_supported = associations is not None
    problems: tuple[RefusedAssociation, ...] = ()
    if access is not None:
        problems = tuple(
            find_refused_associations(
                registry, access, pending, wanted, existing, facts=facts, can_rehearse=is_supported
            )
        )
    unlisted = _find_unlisted(manifest, context, wanted, existing) if facts.covers_folder else ()
    rejected = {problem.change.key for problem in problems}
    changes = tuple(change for change in pending if change.key not in rejected)
    return AssociationComparison(existing, changes, problems, tuple(unlisted), is_supported)


def _make_change(entry: AssociationEntry, manifest: Manifest, context: str) -> PlannedAssociation:
    namespace = entry.namespace or manifest.default_namespace
    return PlannedAssociation(
        str(Subject.parse(qualify_subject(entry.subject, context))),
        Resource(entry.topic, namespace, entry.topic_id),
        entry.part,
        entry.lifecycle,
        line=entry.line,
    )


def _complete_id(change: PlannedAssociation, existing: Iterable[Association]) -> PlannedAssociation:
    """Fill in the id of the topic, if the manifest has none."""
    resource = change.resource
    if resource.id:
        return change
    topic_ids = (each.resource_id for each in existing if association_key(each)[:2] == change.key[:2])
    topic_id = next(filter(None, topic_ids), None)
    if topic_id is not None:
        return replace(change, resource=replace(resource, id=topic_id))
    default_id = default_topic_id(resource.namespace, resource.name)
    return replace(change, resource=replace(resource, id=default_id), has_default_id=True)


def _compare(change: PlannedAssociation, existing: Mapping[Key, Association]) -> PlannedAssociation | None:
    """Return a change with the subject that is bound now, or None if it is the same."""
    current = existing.get(change.key)
    if current is None:
        return change
    same = (current.subject, current.lifecycle, current.resource_id)
    return (
        None
        if same == (change.subject, change.lifecycle, change.resource.id)
        else replace(change, before=current.subject)
    )


def _find_unlisted(
    manifest: Manifest, context: str, wanted: Iterable[PlannedAssociation], existing: Mapping[Key, Association]
) -> Iterator[Association]:
    listed = {change.key for change in wanted}
    home = Subject.parse(f":{context}:x" if context else "x").context
    for key, association in sorted(existing.items()):
        is_home = Subject.parse(association.subject).context == home
        if key not in listed and is_home and manifest.find_subject_rule(association.subject) is not None:
            yield association
