"""Lineage that jobs declare: OpenLineage events in files, one on each line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.errors import InvalidLineage, UsageError
from contractlog.contracts.lineage.edges import Evidence, LineageEdge
from contractlog.contracts.lineage.openlineage import parse_event
from contractlog.contracts.lineage.report_edges import make_report_edge
from contractlog.contracts.lineage.statements import (
    EdgeDetails,
    FieldPair,
    LineageDataset,
    LineageStatement,
    apply_statement,
)

__all__ = ["DeclaredLineage", "read_declared_lineage"]

_MAX_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class DeclaredLineage:
    """Events as they were read, and the edges that they state together."""

    events: Sequence[dict[str, Any]] = ()
    edges: Sequence[LineageEdge] = ()

    def select_events(self, topics: AbstractSet[str]) -> list[dict[str, Any]]:
        """Return the events that state what one of these topics was made from."""
        return [
            event for event in self.events if any(statement.target.label in topics for statement in parse_event(event))
        ]


def read_declared_lineage(paths: Iterable[Path]) -> DeclaredLineage:
    """Read the events of files in order; a later one replaces what an earlier one of the same job stated.

    Raises:
        UsageError: a file cannot be read, or a line is not an OpenLineage event.
    """
    lines = [line for path in paths for line in _read_file(path)]
    stated: dict[tuple[str, LineageDataset, Evidence], dict[FieldPair, EdgeDetails]] = {}
    for _, statements in lines:
        for statement in statements:
            key = (statement.origin, statement.target, statement.evidence)
            stated[key] = apply_statement(stated.get(key, {}), statement)
    edges = [
        make_report_edge(target, pair, evidence, details)
        for (_, target, evidence), pairs in stated.items()
        for pair, details in pairs.items()
    ]
    return DeclaredLineage([event for event, _ in lines], edges)


def _read_file(path: Path) -> Iterator[tuple[dict[str, Any], list[LineageStatement]]]:
    try:
        text = read_bounded_file(path, _MAX_BYTES).decode()
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{path}` is not UTF-8") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            yield event, parse_event(event)
        except InvalidLineage as error:
            raise UsageError(f"`{path}`, line {number}: the OpenLineage event is not valid: {error.detail}") from error
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"`{path}`, line {number} is not JSON; the file has one OpenLineage event on each line"
            ) from error
