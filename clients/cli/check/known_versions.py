"""Versions that were registered elsewhere: neither the lock nor the history of a file in git has them.

``plan`` does not report a newer registered version as drift if the file itself adds a version; this check does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from contractlog.clients.cli.git_file_texts import list_earlier_texts
from contractlog.clients.cli.pull.lock_writer import remove_context
from contractlog.clients.cli.schema_folder.locked_files import find_nearest_lock
from contractlog.clients.cli.schema_folder.resolver import ResolvedFile
from contractlog.clients.cli.suggested_commands import registry_command
from contractlog.clients.lock_file import LockedSchema, lock_path, locked_context, read_lock_entries
from contractlog.clients.registry import Registry
from contractlog.compatibility.common_check_catalogue import LATEST_VERSION_UNKNOWN
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import InvalidSchema, NotFound
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.finding_positions import find_position
from contractlog.compatibility.formats import are_equivalent, parse_schema
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.located_finding import LocatedFinding, locate_finding
from contractlog.compatibility.named_change import name_changes
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema
from contractlog.compatibility.schema_diff import DiffSide, diff_schemas

__all__ = ["KnownVersions"]

_MAX_CHANGES: Final = 5  #: named in a message


@dataclass
class KnownVersions:
    """The versions of subjects that locks name, and texts that files had in git."""

    context: str = ""  #: of the environment
    _locks: dict[Path, Mapping[str, LockedSchema]] = field(default_factory=dict)

    def find_unknown(
        self, registry: Registry, resolved: ResolvedFile, in_files: Collection[int], policy: Policy
    ) -> LocatedFinding | None:
        """Return a finding if the latest version of the subject was registered elsewhere.

        Return None if that is not known: without a lock, with one for another registry or context, or if git has the
        text.

        Args:
            registry: the registry.
            resolved: a file that would be a new version.
            in_files: the versions of the subject that other files are.
            policy: the policy of the subject.
        """
        file = resolved.file
        locked = self._find_locked(file.path, file.subject)
        try:
            if locked is None or not (numbers := registry.versions(file.subject)):
                return None
            locked_version = int(locked.schema.version or 0)
            if numbers[-1] <= locked_version or numbers[-1] in in_files:
                return None
            if not _is_same_version(registry.version(file.subject, locked_version, deleted=True), locked):
                return None
            latest = registry.version(file.subject, numbers[-1])
            referenced = registry.referenced(latest.draft, subject=file.subject)
            parsed = parse_schema(latest.draft, referenced, strict=False)
        except (InvalidSchema, NotFound):
            return None
        if any(_has_text(parsed, latest, referenced, text) for text in list_earlier_texts(file.path)):
            return None
        return _describe(resolved, latest, parsed, locked_version, policy)

    def _find_locked(self, path: Path, subject: str) -> LockedSchema | None:
        """Return the latest version of a subject that the nearest lock above a file names."""
        folder = find_nearest_lock(path)
        if folder is None or locked_context(folder) != self.context:
            return None
        if folder not in self._locks:
            ascending = sorted(read_lock_entries(folder), key=lambda entry: int(entry.schema.version or 0))
            self._locks[folder] = {str(entry.schema.subject): entry for entry in ascending}
        return self._locks[folder].get(remove_context(subject, self.context))


def _is_same_version(registered: RegisteredSchema, locked: LockedSchema) -> bool:
    """Return whether a version is the one that a lock names, which may be for another registry."""
    if registered.guid is not None and locked.schema.guid is not None:
        return registered.guid == locked.schema.guid
    return registered.schema_id == locked.schema.schema_id


def _has_text(parsed: ParsedSchema, latest: RegisteredSchema, referenced: Mapping[str, str], text: str) -> bool:
    """Return whether an earlier text of a file is a version of the registry."""
    if text == latest.draft.text:
        return True
    try:
        return are_equivalent(parse_schema(replace(latest.draft, text=text), referenced, strict=False), parsed)
    except InvalidSchema:
        return False


def _describe(
    resolved: ResolvedFile, latest: RegisteredSchema, parsed: ParsedSchema, locked_version: int, policy: Policy
) -> LocatedFinding | None:
    """Return the finding with what the file changes; None if it changes nothing."""
    file, name = resolved.file, f"version {latest.version}"
    earlier, later = DiffSide(name, latest.draft.text, parsed), DiffSide("", file.draft.text, resolved.parsed)
    changes = [change.text for change in name_changes(diff_schemas(earlier, later, level=Level.NONE, policy=policy))]
    if not changes:
        return None
    folder = find_nearest_lock(file.path) or file.path.parent
    detail = (
        f"{name}, the latest of `{file.subject}`, was registered elsewhere: {lock_path(folder).name} has version "
        f"{locked_version}, and the file never had its text in git. Compared with {name}, the file has: "
        f"{'; '.join(_list_first(changes))}"
    )
    pull = registry_command("pull --force", file.subject, out=str(folder))
    fix = f"take {name} over, and edit the file again: {pull}; or keep the edit, which replaces it"
    finding = Finding(LATEST_VERSION_UNKNOWN.id, "", "", detail, fix=fix)
    position = find_position(file.draft.text, finding, Direction.BACKWARD)
    return locate_finding(finding, Direction.BACKWARD, "", position)


def _list_first(changes: list[str]) -> Iterator[str]:
    yield from changes[:_MAX_CHANGES]
    if len(changes) > _MAX_CHANGES:
        yield f"{len(changes) - _MAX_CHANGES} more changes, which `contractlog diff` lists"
