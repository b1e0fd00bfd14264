"""Sources of lineage edges: a file, or the state of an audit.

A source is a function that returns a ``KnownLineage``. A further one, such as the registry, is one more function.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.functions_by_name import import_function
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.audit.report import LineageEdge

__all__ = ["KnownLineage", "load_lineage", "read_lineage_file"]

_MAX_BYTES: Final = 256 * 1024 * 1024
_STATE_LINEAGE: Final = "contractlog.spark_validation.jobs.state_lineage:infer_state_lineage"


@dataclass(frozen=True, slots=True)
class KnownLineage:
    """Lineage edges, and the topics that were looked at."""

    name: str  #: of the source, for messages
    edges: Sequence[LineageEdge]
    fields: Mapping[str, frozenset[str]]  #: known fields of each topic; those of edges are always known
    subjects: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)  #: topics and parts of subjects


def load_lineage(options: Namespace) -> KnownLineage:
    """Return the lineage of the source that the options name.

    Raises:
        UsageError: it cannot be read.
    """
    if options.lineage is not None:
        return read_lineage_file(options.lineage)
    try:
        edges, fields = import_function(_STATE_LINEAGE)(options.state)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("contractlog"):
            raise
        raise UsageError("--state needs an extra: pip install 'contractlog[spark]'; --lineage FILE does not") from None
    return _add_edge_fields(str(options.state), edges, fields, {})


def read_lineage_file(path: Path) -> KnownLineage:
    """Read the output of ``contractlog lineage --format json``, or the report of an audit.

    Raises:
        UsageError: the file cannot be read, is neither, or has no lineage.
    """
    try:
        document = json.loads(read_bounded_file(path, _MAX_BYTES))
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(_describe_format(path)) from None
    try:
        if document["scope"]["lineage"] is False:
            raise UsageError(
                f"the audit of `{path}` inferred no lineage: pass --state {path.parent}, or audit with --lineage"
            )
    except (KeyError, TypeError):
        pass  # not a report
    try:
        edges = [_check_edge(edge) for edge in document["lineage"]]
        entries = document.get("topics", [])
        fields: dict[str, set[str]] = {}
        subjects: dict[str, set[tuple[str, str]]] = {}
        for entry in entries:
            names = fields.setdefault(entry["topic"], set())
            if entry.get("part", "value") == "value":
                names |= {_field_name(each) for each in entry.get("fields", ())}
            for use in entry.get("schemas", ()):
                subjects.setdefault(use["subject"], set()).add((entry["topic"], entry["part"]))
    except (KeyError, TypeError, AttributeError):
        raise UsageError(_describe_format(path)) from None
    return _add_edge_fields(str(path), edges, fields, subjects)


def _describe_format(path: Path) -> str:
    return f"`{path}` is neither the output of `contractlog lineage --format json` nor a report.json of an audit"


def _field_name(entry: Any) -> str:
    """Return the name of a field: the lineage file has names, the report has profiles."""
    name = entry if isinstance(entry, str) else entry["field"]
    if not isinstance(name, str):
        raise TypeError
    return name


def _check_edge(edge: Any) -> LineageEdge:
    """Return an edge if it has the members that are read here.

    Raises:
        KeyError, TypeError: it does not.
    """
    texts = [edge[end][name] for end in ("from", "to") for name in ("topic", "field")]
    texts += [edge["method"], edge.get("evidence", ""), edge.get("direction", "")]
    numbers = [edge["score"], edge["support"]]
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(each, int | float) for each in numbers):
        raise TypeError
    checked: LineageEdge = edge
    return checked


def _add_edge_fields(
    name: str,
    edges: Sequence[LineageEdge],
    fields: Mapping[str, set[str]],
    subjects: Mapping[str, set[tuple[str, str]]],
) -> KnownLineage:
    every: dict[str, set[str]] = {topic: set(names) for topic, names in fields.items()}
    for edge in edges:
        for end in (edge["from"], edge["to"]):
            every.setdefault(end["topic"], set()).add(end["field"])
    return KnownLineage(
        name,
        edges,
        {topic: frozenset(names - {""}) for topic, names in every.items()},
        {subject: frozenset(topics) for subject, topics in subjects.items()},
    )
