"""Settings and associations of a registry as the entries of a new manifest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from contractlog.clients.calls.config_and_mode import Config
from contractlog.clients.cli.associations.association_keys import association_key, default_topic_id, fetch_associations
from contractlog.clients.cli.registry_lookups import fetch_if_supported
from contractlog.clients.cli.schema_folder.association_entries import AssociationEntry
from contractlog.clients.cli.schema_folder.manifest import SubjectRule
from contractlog.clients.cli.subject_settings import list_own_settings
from contractlog.clients.registry import Registry
from contractlog.compatibility.association_values import Lifecycle
from contractlog.compatibility.errors import Forbidden, LevelNotConfigured, NotFound, SubjectNotFound
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaType

__all__ = ["find_subjects", "import_associations", "import_subject_rules"]

_MODES = frozenset({Mode.READWRITE, Mode.READONLY})  #: those that a manifest may set


def find_subjects(
    registry: Registry, subjects: Collection[str], paths: Collection[Path]
) -> dict[Path, tuple[str, ...]]:
    """Return the subjects of the default context whose latest version has the content of a file, by file.

    The content is compared without its formatting, so that no reference needs to be resolved.
    """
    # slow to import, not needed for --help
    from contractlog.clients.cli.json_formatter import format_json  # noqa: PLC0415
    from contractlog.clients.cli.schema_folder.schema_files import read_file  # noqa: PLC0415

    by_content: dict[tuple[SchemaType, str], list[str]] = {}
    for subject in subjects if paths else ():
        if Subject.parse(subject).context == DEFAULT_CONTEXT:
            with suppress(Forbidden, NotFound):  # deleted meanwhile, or not to be read
                latest = registry.latest(subject)
                by_content.setdefault((latest.type, format_json(latest.text)), []).append(subject)
    drafts = {path: read_file(path).draft for path in paths}
    matches = {path: by_content.get((draft.type, format_json(draft.text))) for path, draft in drafts.items()}
    return {path: tuple(names) for path, names in matches.items() if names}


def import_subject_rules(registry: Registry, subjects: Iterable[str]) -> Iterator[SubjectRule]:
    """Yield rules with the settings of subjects.

    They have the subjects' own settings, and the level and mode in force if they differ from the registry's.
    A rule holds for a name in all contexts, so that there is none for a name whose settings differ between them.
    """
    settings: dict[str, list[dict[str, Any]]] = {}
    try:
        level, mode = registry.level(), fetch_if_supported(registry.mode)
        for subject in subjects:
            settings.setdefault(Subject.parse(subject).name, []).append(_read_settings(registry, subject, level, mode))
    except (Forbidden, NotFound):  # the caller may not read settings, or the server has none
        return
    for name, (first, *others) in settings.items():
        if first and all(other == first for other in others):
            yield SubjectRule(re.sub(r"([*?[])", r"[\1]", name), first)


def _read_settings(registry: Registry, subject: str, level: Level, mode: Mode | None) -> dict[str, Any]:
    """Return the settings of a subject; ``level`` and ``mode`` are the registry's, which are left out."""
    effective = registry.config(subject)
    own_mode = None if mode is None else registry.mode(subject)
    settings: dict[str, Any] = {}
    if effective.level not in {None, level}:
        settings["level"] = str(effective.level)
    if own_mode != mode and own_mode in _MODES:
        settings["mode"] = str(own_mode)
    try:
        own = registry.config(subject, inherited=False)
    except (LevelNotConfigured, SubjectNotFound):  # the latter from other registries
        own = Config()
    return settings | list_own_settings(own, effective)


def import_associations(registry: Registry, subjects: Collection[str]) -> Iterator[AssociationEntry]:
    """Yield the associations of subjects that the caller may see; none if the registry has none."""
    try:
        associations = fetch_associations(registry) or []
    except Forbidden:
        return
    for association in sorted(associations, key=association_key):
        namespace, topic, part = association_key(association)
        if association.subject in subjects and association.lifecycle in set(Lifecycle):
            topic_id = association.resource_id or ""
            yield AssociationEntry(
                topic,
                association.subject,
                part,
                Lifecycle(association.lifecycle),
                namespace,
                "" if topic_id == default_topic_id(namespace, topic) else topic_id,
            )
