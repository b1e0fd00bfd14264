"""Lineage of the state of an audit, for commands of other folders."""

from __future__ import annotations

import sys
from pathlib import Path

from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.lineage.edges import LineageEdge

__all__ = ["infer_state_lineage", "list_sampled_fields", "make_lineage_progress", "read_audit_state"]


def infer_state_lineage(folder: Path) -> tuple[list[LineageEdge], dict[str, set[str]]]:
    """Return the edges that values prove, and the sampled fields of each audited topic.

    Args:
        folder: the state of an audit, or the audit's ``--out`` folder.

    Raises:
        UsageError: there is no state, or it cannot be read.
    """
    from contractlog.spark_validation.lineage.inference import infer_edges  # noqa: PLC0415 - slow to import

    state = read_audit_state(folder)
    edges = infer_edges(state, progress=make_lineage_progress()) if state.samples else []
    return edges, list_sampled_fields(state)


def make_lineage_progress() -> ProgressLine:
    """Return the progress line of inference."""
    return ProgressLine("finding lineage", "comparisons of two topics", sys.stderr, announced=True)


def read_audit_state(folder: Path) -> AuditState:
    """Read the state in a folder, or in the ``--out`` folder of an audit."""
    from contractlog.spark_validation.state.state_files import read_state  # noqa: PLC0415 - slow to import

    inner = folder / "state"
    return read_state(inner if inner.is_dir() else folder)


def list_sampled_fields(state: AuditState) -> dict[str, set[str]]:
    """Return the sampled fields of the values of each audited topic."""
    fields: dict[str, set[str]] = {coverage.topic: set() for coverage in state.coverage}
    for topic, part, field in state.samples:
        if part == "value":
            fields.setdefault(topic, set()).add(field)
    return fields
