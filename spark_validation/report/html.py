"""``report.html``: one file, usable offline, made from ``report.json`` alone."""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any, Final, NamedTuple, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from contractlog.contracts.observed.report import Report, TopicPart
from contractlog.contracts.observed.summary import newest_in_use
from contractlog.spark_validation.report import words
from contractlog.spark_validation.report.pictures.coverage import KINDS, MAX_BARS, coverage
from contractlog.spark_validation.report.pictures.graph import graph
from contractlog.spark_validation.report.pictures.river import Bins, binned, river, schema_label
from contractlog.spark_validation.report.sentences import (
    ORDER,
    answer,
    by_code,
    command,
    conforms,
    exit_line,
    meaning,
    mend,
    part_line,
    reason,
    rule,
    strategy_line,
    why,
)

__all__ = ["render"]

T = TypeVar("T")

MAX_BYTES: Final = 1_000_000
MAX_TODO: Final = 4  #: initially shown; the others are folded
MAX_FOLDED_TODO: Final = 40
UNBROKEN: Final = 24  #: letters of a word in a command that fit on a phone beside the button
MAX_LINES: Final = 20  #: places per code and part; the rest is in report.json
MAX_TABLE_ROWS: Final = 16
FEW: Final = 40  #: parts; if there are more, only those that need attention get their own section


class _Room(NamedTuple):
    """Limits on the content of a page; parts that need attention are shown first."""

    letters_of_pictures: int
    sections: int
    rows: int  #: of the table of topics; topics beyond are listed by name only


_ROOMS: Final = (_Room(400_000, 100, 600), _Room(200_000, 40, 600), _Room(100_000, 12, 200), _Room(0, 4, 50))

_MS: Final = {"s": 1000.0, "min": 60_000.0, "h": 3_600_000.0}


def render(report: Report) -> str:
    """Return the report as one HTML page of at most a megabyte; all external values are escaped."""
    page = ""
    for room in _ROOMS:
        page = _page(report, room)
        if len(page.encode()) <= MAX_BYTES:
            break
    return page


def _page(report: Report, room: _Room) -> str:
    parts = sorted(report["topics"], key=_need)
    few = len(parts) <= FEW
    detailed = [part for part in parts if few or part["verdict"] in {"failing", "degraded"}][: room.sections]
    topics: dict[str, list[dict[str, Any]]] = defaultdict(list)
    letters = room.letters_of_pictures
    for part in detailed:
        entry = _part(report, part, pictured=letters > 0)
        letters -= len(entry["river"] or "") + len(entry["coverage"] or "")
        topics[part["topic"]].append(entry)
    todo = _in_turn([[item for entry in entries for item in entry["groups"]] for entries in topics.values()])
    style, script = _asset("report.css"), _asset("report.js")
    values = [part for part in parts if part["part"] == "value"]
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            names=sorted({part["topic"] for part in parts}),
            parts=parts,
            answer=answer(report),
            topics=topics,
            listed=parts[: room.rows],
            unlisted=sorted({part["topic"] for part in parts[room.rows :]}),
            todo=todo[:MAX_TODO],
            folded_todo=todo[MAX_TODO:MAX_FOLDED_TODO],
            more_todo=max(0, len(todo) - MAX_FOLDED_TODO),
            unpictured=len(detailed) < len(parts) or letters <= 0,
            strip=_strip(report["thresholds"]["verdict"]),
            rule=rule(report["thresholds"]["verdict"]),
            exit_line=exit_line(report),
            lineage_scope=_lineage_scope(report),
            max_partitions=MAX_BARS,
            graph=graph(report["lineage"]),
            lineage_headline=_lineage_headline(report),
            offsets=sum(row["to_offset"] - row["from_offset"] for part in values for row in part["partitions"]),
            partition_count=sum(len(part["partitions"]) for part in values),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            style_hash=_source_hash(style),
            script_hash=_source_hash(script),
        )
    )


def _in_turn(lists: Sequence[Sequence[T]]) -> list[T]:
    """Take the first item of each list, then the second of each, and so on, so that all topics are shown."""
    return [item for row in zip_longest(*lists, fillvalue=None) for item in row if item is not None]


def _need(part: TopicPart) -> tuple[int, int, str, str]:
    """Return the sort key of a part: failing before degraded before unknown before passing."""
    return ORDER.index(part["verdict"]), -part["violating"], part["topic"], part["part"]


def _part(report: Report, part: TopicPart, *, pictured: bool) -> dict[str, Any]:
    uses = {use["schema_id"]: use for use in part["schemas"]}
    versions = [schema_id for schema_id, use in uses.items() if use["version"] and use["expected"]]
    bins = binned(part["series"], versions) if pictured else None
    labels = {schema_id: schema_label(schema_id, uses) for schema_id in {0, *uses, *(bins.records if bins else ())}}
    return {
        "data": part,
        "labels": defaultdict(str, labels),
        "reason": reason(part),
        "strategy": strategy_line(part),
        "groups": _groups(report, part),
        "river": river(bins, uses, threshold=part["threshold"]) if bins else None,
        "months": _periods(bins) if bins else None,
        "headline": _river_headline(part),
        "coverage": coverage(part["partitions"]) if pictured and part["partitions"] else None,
        "coverage_headline": _coverage_headline(part),
        "kinds": [(kind, label) for kind, label in KINDS.items() if kind != "unaudited" or part["unaudited"]],
    }


def _groups(report: Report, part: TopicPart) -> list[dict[str, Any]]:
    stem = f"topic/{part['topic']}" + ("" if part["part"] == "value" else f"/{part['part']}")
    return [
        {
            "part": part,
            "code": code,
            "anchor": f"{stem}/{code}",
            "records": sum(line["records"] for line in lines),
            "meaning": meaning(code),
            "mend": mend(code),
            "lines": lines[:MAX_LINES],
            "left_out": max(0, len(lines) - MAX_LINES),
            "command": command(report, part, lines[0]),
        }
        for code, lines in by_code(part["violations"]).items()
    ]


def _periods(bins: Bins) -> Mapping[str, Any]:
    """Sum the bins of the picture into at most ``MAX_TABLE_ROWS`` rows."""
    step = -(-len(bins.starts) // MAX_TABLE_ROWS)
    ids = list(bins.records)

    def cell(schema_id: int, start: int) -> str:
        records = sum(bins.records[schema_id][start : start + step])
        violating = sum(bins.violating[schema_id][start : start + step])
        return f"{words.count(records)} ({words.count(violating)})" if records else ""

    rows = [
        {"start": bins.starts[start].isoformat(), "cells": [cell(schema_id, start) for schema_id in ids]}
        for start in range(0, len(bins.starts), step)
    ]
    return {"ids": ids, "rows": rows}


def _river_headline(part: TopicPart) -> str:
    uses = [use for use in part["schemas"] if use["version"] and use["expected"]]
    newest = newest_in_use(part["schemas"])
    if not newest:
        return "No record carries the id of a version of this topic's subjects."
    if len(newest) > 1:
        return f"{words.plural(len(uses), 'version')} of {words.plural(len(newest), 'subject')} are in use."
    (one,) = newest
    name, since = f"Version {one['version']} (id {one['schema_id']})", words.moment(one["first_seen"])
    if len(uses) == 1:
        return f"{name} is the only one in use, since {since}."
    return f"{name} is the newest of {len(uses)} versions in use; its first record is of {since}."


def _coverage_headline(part: TopicPart) -> str:
    total = sum(row["to_offset"] - row["from_offset"] for row in part["partitions"])
    if not total:
        return "The topic holds no offsets."
    return f"Every one of {words.plural(total, 'offset')} is accounted for."


def _strip(threshold: float) -> tuple[tuple[str, str], ...]:
    """Return the classes of the strip's shades and their meanings."""
    few = words.percent(1 - threshold)
    return (("passing", "none"), ("degraded", f"up to {few}"), ("failing", "more"))


def _lineage_scope(report: Report) -> Markup:
    """Return a sentence on whether lineage was inferred, and how it can be."""
    scope = report["scope"]
    if scope["lineage"]:
        return Markup("Lineage was looked for in bounded samples of the values of each field.")
    if not scope["samples"]:
        return _prose("Lineage was not looked for, and no samples of values were kept (`--no-samples`).")
    return _prose(
        "Lineage was not looked for: `contractlog lineage --state DIR` finds it in the samples that this "
        "audit kept in its folder, `--lineage` in the course of an audit."
    )


def _lineage_headline(report: Report) -> str:
    made = sorted({edge["to"]["topic"] for edge in report["lineage"]})
    if not made:
        return ""
    sources = sorted({edge["from"]["topic"] for edge in report["lineage"] if edge["to"]["topic"] == made[0]})
    if len(made) == 1:
        return f"{made[0]} was made from {' and '.join(sources)}."
    return f"{words.plural(len(made), 'topic')} were made from others."


def _unbroken(line: str) -> Markup:
    """Allow line breaks in a command at its spaces, and elsewhere only in words wider than a phone."""
    words = (
        Markup('<span class="flag">{}</span>').format(word) if "-" in word and len(word) <= UNBROKEN else escape(word)
        for word in line.split(" ")
    )
    return Markup(" ").join(words)


def _prose(text: str) -> Markup:
    """Set text between backticks in code font; options and commands break at spaces."""
    *pairs, rest = text.split("`")
    if len(pairs) % 2:
        return escape(text)
    words = [
        Markup("{}<code>{}</code>").format(plain, _unbroken(code) if code.startswith(("-", "contractlog ")) else code)
        for plain, code in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    return Markup("").join([*words, escape(rest)])


def _lag(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    unit = "h" if milliseconds >= _MS["h"] else "min" if milliseconds >= _MS["min"] else "s"
    return f"{words.significant(milliseconds / _MS[unit])} {unit}"


def _source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text("utf-8").strip()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("contractlog.spark_validation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {
        "count": words.count,
        "plural": words.plural,
        "moment": words.moment,
        "day": words.day,
        "conforms": conforms,
        "part_line": part_line,
        "why": why,
        "prose": _prose,
        "unbroken": _unbroken,
        "lag": _lag,
    }
    return environment
