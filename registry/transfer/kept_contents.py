"""Contents of a database that an import keeps although its source does not have them.

An import that is started again knows no earlier state of the source, so it cannot tell what the source has deleted or
changed since from what was written here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from contractlog.registry.transfer.registry_contents import RegistryContents

__all__ = ["describe_kept_contents"]

_MAX_EXAMPLES: Final = 3


def describe_kept_contents(source: RegistryContents, target: RegistryContents) -> list[str]:
    """Describe live versions, settings, modes and associations that only the target has, by kind."""
    deletions = source.changes_since(target).deletions
    versions = [
        f"{subject} version {number}"
        for subject, number, _ in sorted(deletions.versions, key=lambda item: (str(item[0]), item[1]))
        if target.versions[subject, number].deleted_at is None
    ]
    associations = [
        f"{association.resource_name}/{association.association_type}"
        for association in map(target.associations.__getitem__, deletions.associations)
    ]
    kinds: dict[str, Iterable[str]] = {
        "live versions": versions,
        "settings": sorted(str(scope) or "(global)" for scope in deletions.settings),
        "modes": sorted(str(scope) or "(global)" for scope in deletions.modes),
        "associations": sorted(associations),
        "KEKs": sorted(deletions.keks),
        "DEKs": sorted(target.deks[key].id.change_log_name for key, _ in deletions.deks),
    }
    kinds["contracts"] = sorted(
        contract.name
        for key, contract in target.contracts.items()
        if key not in source.contracts and contract.deleted_at is None
    )
    return [_describe(kind, list(names)) for kind, names in kinds.items() if names]


def _describe(kind: str, names: list[str]) -> str:
    more = ", …" if len(names) > _MAX_EXAMPLES else ""
    return f"{kind} {len(names):,} ({', '.join(names[:_MAX_EXAMPLES])}{more})"
