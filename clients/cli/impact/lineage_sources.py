"""Sources of lineage edges: the registry, a file, or the state of an audit.

A source is a function that returns a ``KnownLineage``.
"""

from __future__ import annotations

import json
import math
from argparse import Namespace
from pathlib import Path
from typing import Any, Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.cli.impact.field_names import list_possible_topics, split_field_name
from contractlog.clients.cli.impact.known_lineage import KnownLineage
from contractlog.clients.cli.options import connect, select_context
from contractlog.clients.cli.published_lineage import (
    PublishedLineage,
    make_empty_registry_error,
    read_all_lineage,
    read_topic_lineage,
)
from contractlog.clients.functions_by_name import import_function
from contractlog.compatibility.errors import UsageError
from contractlog.contracts.lineage.edges import LineageEdge

__all__ = ["load_lineage", "read_lineage_file"]

_MAX_BYTES: Final = 64 * 1024 * 1024
_MAX_FILE_EDGES: Final = 100_000
_MAX_COMPARED: Final = 10_000  #: edges whose topics an unknown one is compared with
_STATE_LINEAGE: Final = "contractlog.spark_validation.jobs.state_lineage:infer_state_lineage"


def load_lineage(options: Namespace) -> KnownLineage:
    """Return the lineage of the source that the options name.

    Raises:
        UsageError: it cannot be read.
    """
    if options.lineage is None and options.state is None:
        return _read_published_lineage(options)
    if options.at is not None:
        raise UsageError("--at is for the lineage that the registry has: leave out --lineage and --state")
    if options.lineage is not None:
        return read_lineage_file(options.lineage)
    try:
        edges, fields = import_function(_STATE_LINEAGE)(options.state)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("contractlog"):
            raise
        raise UsageError("--state needs an extra: pip install 'contractlog[spark]'; --lineage FILE does not") from None
    return KnownLineage.of_edges(str(options.state), edges, fields, {})


def _read_published_lineage(options: Namespace) -> KnownLineage:
    """Return the edges of the registry that lead from the topics of a subject, and those next to them.

    Raises:
        UsageError: the registry has no lineage.
    """
    select_context(options)
    subject, field = split_field_name(options.subject)
    with connect(options) as registry:
        near = {
            topic: read_topic_lineage(registry, topic, at=options.at, depth=1)
            for topic in list_possible_topics(subject)
        }
        if not any(lineage.edges for lineage in near.values()):
            every = read_all_lineage(registry, at=options.at, limit=_MAX_COMPARED)
            if not every.edges:
                raise make_empty_registry_error(registry, options.at)
            truncated = any(lineage.truncated for lineage in near.values())
            return KnownLineage.of_edges(registry.url, every.edges, truncated=truncated)
        reached = PublishedLineage.merge(
            read_topic_lineage(registry, topic, at=options.at, direction="downstream", field=field)
            for topic, lineage in near.items()
            if lineage.edges
        )
        merged = PublishedLineage.merge([reached, *near.values()])
        # That edges beside a whole topic were left out matters only if none of the field were read.
        truncated = reached.truncated or (merged.truncated and not reached.edges)
        return KnownLineage.of_edges(registry.url, merged.edges, truncated=truncated)


def read_lineage_file(path: Path) -> KnownLineage:
    """Read the output of ``contractlog lineage --format json``, or the report of an audit.

    Raises:
        UsageError: the file cannot be read, is neither, or has no lineage.
    """
    try:
        document = json.loads(read_bounded_file(path, _MAX_BYTES), parse_constant=_reject_constant)
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
        if len(document["lineage"]) > _MAX_FILE_EDGES:
            raise UsageError(
                f"`{path}` has {len(document['lineage']):,} edges; at most {_MAX_FILE_EDGES:,} are read: write the "
                "lineage of fewer topics"
            )
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
    return KnownLineage.of_edges(str(path), edges, fields, subjects)


def _describe_format(path: Path) -> str:
    return f"`{path}` is neither the output of `contractlog lineage --format json` nor a report.json of an audit"


def _reject_constant(name: str) -> float:
    raise ValueError(f"`{name}` is not a number of JSON")


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
    if not all(isinstance(text, str) for text in texts) or not all(map(_is_finite, numbers)):
        raise TypeError
    checked: LineageEdge = edge
    return checked


def _is_finite(number: Any) -> bool:
    """Return whether a value is a number within the range of floats; JSON may have others, such as 1e400."""
    try:
        return isinstance(number, int | float) and math.isfinite(number)
    except OverflowError:
        return False
