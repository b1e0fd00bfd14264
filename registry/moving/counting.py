"""Counts of the content of a registry state."""

from __future__ import annotations

from contractlog.registry.moving.picture import Picture
from contractlog.registry.moving.report import Report

__all__ = ["counted"]


def counted(picture: Picture, report: Report) -> Picture:
    """Add the counts of a registry state to the report; return the state."""
    live = [version for version in picture.versions.values() if version.deleted_at is None]
    report.read |= {
        "contexts": len(picture.contexts),
        "subjects": len(picture.subjects),
        "schemas": len(picture.schemas),
        "live versions": len(live),
        "soft-deleted versions": len(picture.versions) - len(live),
        "settings": len(picture.settings),
        "modes": len(picture.modes),
        "associations": len(picture.associations),
        "retired ids": len(picture.retired),
    }
    return picture
