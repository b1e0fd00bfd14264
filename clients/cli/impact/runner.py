"""Implementation of ``contractlog impact``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any, Final

from contractlog.clients.cli.broker import BOOTSTRAP_VARIABLE, find_brokers
from contractlog.clients.cli.exit_codes import CLEAN, FINDINGS
from contractlog.clients.cli.impact.changed_field import ChangedField, find_changed_field, find_reach
from contractlog.clients.cli.impact.lineage_sources import load_lineage
from contractlog.clients.cli.output import count_noun, print_json, print_message, print_result, print_table
from contractlog.clients.functions_by_name import import_function
from contractlog.contracts.lineage.graph_bounds import GRAPH_BOUNDS
from contractlog.contracts.lineage.lineage_reach import ReachedField

__all__ = ["run"]

FORMAT: Final = "contractlog.impact/1"
_READER_GROUPS: Final = "contractlog.serdes.consumer_groups:list_reader_groups"


def run(options: Namespace) -> int:
    """Print what a change reaches, and return the exit code."""
    lineage = load_lineage(options)
    changed = find_changed_field(options.subject, lineage)
    reached = find_reach(changed, lineage)
    topics = sorted({*changed.topics, *(each.topic for each in reached)})
    brokers = find_brokers(options)
    groups, unknown = (None, 0) if brokers is None else import_function(_READER_GROUPS)(brokers, topics)
    if options.format == "json":
        print_json(_build_body(changed, reached, groups, unknown, truncated=lineage.truncated))
    else:
        _print_reach(changed, reached, truncated=lineage.truncated)
        _print_groups(groups)
    if lineage.truncated:
        result = "more may be reached than listed" if reached else "whether anything is reached is not known"
        print_message(f"{result}: {GRAPH_BOUNDS}, and this registry has more")
    if groups is None:
        print_message(f"consumer groups are not known: pass --bootstrap-servers, or set {BOOTSTRAP_VARIABLE}")
    elif unknown:
        print_message(f"the broker gave no offsets of {count_noun(unknown, 'more consumer group')}")
    return FINDINGS if lineage.truncated and not reached else CLEAN


def _build_body(
    changed: ChangedField,
    reached: Sequence[ReachedField],
    groups: Sequence[Any] | None,
    unknown: int,
    *,
    truncated: bool,
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "subject": changed.subject,
        "field": changed.field or None,
        "topics": list(changed.topics),
        "reached": [each.body() for each in reached],
        "reached_topics": sorted({each.topic for each in reached}),
        "truncated": truncated,
        "consumer_groups": None if groups is None else [group.body() for group in groups],
        "unknown_consumer_groups": None if groups is None else unknown,
    }


def _print_reach(changed: ChangedField, reached: Sequence[ReachedField], *, truncated: bool) -> None:
    if not reached:
        if not truncated:
            print_result(f"no field is known to be made from `{changed.name}`")
        return
    fields, topics = count_noun(len(reached), "field"), count_noun(len({each.topic for each in reached}), "topic")
    print_result(f"a change of `{changed.name}` reaches {fields} of {topics}")
    header = ("depth", "topic", "field", "made from", "method", "evidence", "score")
    print_table(header, [_list_cells(each) for each in reached])
    if not all(each.directed for each in reached):
        print_message("direction unknown: either field may have been made from the other, so it may not be reached")


def _list_cells(reached: ReachedField) -> tuple[object, ...]:
    source = f"{reached.source['topic']} {reached.source['field']}".rstrip()
    evidence = reached.evidence if reached.directed else f"{reached.evidence}, direction unknown"
    field = reached.field or "(whole topic)"
    return reached.depth, reached.topic, field, source, reached.edge["method"], evidence, f"{reached.edge['score']:.2f}"


def _print_groups(groups: Sequence[Any] | None) -> None:
    if groups is None:
        return
    if not groups:
        print_result("no consumer group has committed offsets of these topics")
        return
    print_result("")
    print_result(f"{count_noun(len(groups), 'consumer group')} committed offsets of these topics, the changed included")
    print_table(("group", "state", "topics"), [(group.name, group.state, ", ".join(group.topics)) for group in groups])
