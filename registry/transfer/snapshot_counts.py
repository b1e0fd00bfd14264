"""Counts of the content of a registry state."""

from __future__ import annotations

from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.snapshot import RegistrySnapshot

__all__ = ["count_contents"]


def count_contents(snapshot: RegistrySnapshot, report: TransferReport) -> RegistrySnapshot:
    """Add the counts of a registry state to the report; return the state."""
    live = [version for version in snapshot.versions.values() if version.deleted_at is None]
    report.read |= {
        "contexts": len(snapshot.contexts),
        "subjects": len(snapshot.subjects),
        "schemas": len(snapshot.schemas),
        "live versions": len(live),
        "soft-deleted versions": len(snapshot.versions) - len(live),
        "settings": len(snapshot.settings),
        "modes": len(snapshot.modes),
        "associations": len(snapshot.associations),
        "retired ids": len(snapshot.retired),
    }
    return snapshot
