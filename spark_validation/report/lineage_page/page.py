"""HTML page of the lineage of all topics: one file, usable offline, made from the edges alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from contractlog.contracts.lineage.edges import EVIDENCE, LineageEdge
from contractlog.spark_validation.lineage.methods import LIMITS_NOTE
from contractlog.spark_validation.report import formatters
from contractlog.spark_validation.report.lineage_page import edge_sentences, layout, svg_picture
from contractlog.spark_validation.report.lineage_page.box_labels import shorten_label
from contractlog.spark_validation.report.lineage_page.layers import Edge, LayeredGraph
from contractlog.spark_validation.report.lineage_page.topic_graph import TopicLink, link_topics
from contractlog.spark_validation.report.lineage_page.topic_groups import TopicGroup, group_topics
from contractlog.spark_validation.report.page_assets import (
    embed_json,
    escape_strings,
    make_environment,
    read_asset,
    source_hash,
)

__all__ = ["render_lineage"]

MAX_BYTES: Final = 4_000_000
MAX_OPEN_TOPICS: Final = 100  #: if there are more topics with lineage, groups are closed at first
_FIELD_LIMITS: Final = (2_000, 100, 20, 5, 1)  #: edges of a link that the page has, tried in turn


def render_lineage(edges: Sequence[LineageEdge], topics: Iterable[str]) -> str:
    """Return the page; all texts are escaped.

    Args:
        edges: the edges.
        topics: names of all topics that were looked at; those without edges are listed below the picture.
    """
    escaped = escape_strings(list(edges))
    names = escape_strings(sorted(set(topics)))
    page = ""
    for max_fields in _FIELD_LIMITS:
        page = _render_page(escaped, names, max_fields)
        if len(page.encode()) <= MAX_BYTES:
            break
    return page


def _render_page(edges: Sequence[LineageEdge], topics: Sequence[str], max_fields: int) -> str:
    every = link_topics(edges)
    links = [link for link in every if link.source != link.target]  # a picture of topics cannot show the others
    linked = sorted({topic for link in links for topic in (link.source, link.target)})
    ids = {name: f"t{number:05}" for number, name in enumerate(linked)}
    names = {id_: name for name, id_ in ids.items()}
    pairs = sorted({(ids[link.source], ids[link.target]) for link in links})
    groups = {f"g{number:05}": group for number, group in enumerate(group_topics(linked))}
    opened = set() if len(linked) > MAX_OPEN_TOPICS else set(groups)
    grouped = layout.lay_out(names, pairs, groups, opened)
    flat = layout.lay_out(names, pairs, {}, ())
    picture, bounds = svg_picture.draw_view(grouped, links, ids, opened)
    style = f"{read_asset('report.css')}\n{read_asset('lineage.css')}"
    script = read_asset("lineage.js")
    data = {
        "topics": {id_: _topic_body(name, groups) for id_, name in names.items()},
        "groups": {id_: {"prefix": group.prefix} for id_, group in groups.items()},
        "links": [_link_body(link, ids, max_fields) for link in links],
        "opened": sorted(opened),
        "views": {"grouped": _view_body(grouped), "flat": _view_body(flat)},
        "evidence": edge_sentences.EVIDENCE_LABELS,
        "sizes": {
            "box": layout.BOX_HEIGHT,
            "group": layout.GROUP_HEIGHT,
            "header": layout.HEADER_HEIGHT,
            "columnGap": layout.COLUMN_GAP,
            "shelfGap": layout.SHELF_GAP,
            "arrow": svg_picture.ARROW_LENGTH,
            "parallelGap": svg_picture.PARALLEL_GAP,
            "portGap": svg_picture.PORT_GAP,
            "portMargin": svg_picture.PORT_MARGIN,
        },
    }
    return (
        _make_environment()
        .get_template("lineage.html")
        .render(
            title=f"Lineage of {formatters.format_plural(len({*topics, *linked}), 'topic')}",
            answer=_describe_lineage(links, flat) if links or not every else "Fields were made from others of a topic.",
            picture=picture,
            bounds=" ".join(f"{number:.1f}" for number in bounds),
            kinds=[kind for kind in EVIDENCE if any(link.evidence == kind for link in links)],
            labels=edge_sentences.EVIDENCE_LABELS,
            undirected=any(not link.directed for link in links),
            links=links,
            every=every,
            groups=groups,
            max_fields=max_fields,
            words=edge_sentences,
            unlinked=[topic for topic in topics if topic not in ids],
            limits=LIMITS_NOTE,
            tool=f"contractlog {version('contractlog')}",
            data=embed_json(data),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            style_hash=source_hash(style),
            script_hash=source_hash(script),
        )
    )


def _describe_lineage(links: Sequence[TopicLink], flat: layout.LineageView) -> str:
    """Return the first sentences: how many topics were made from others, and what is not known."""
    derived = len({link.target for link in links if link.directed})
    mirrors = len({(link.source, link.target) for link in links if not link.directed})
    if not links:
        return "No lineage was found."
    steps = max(len(component.columns) for shelf in flat.shelves for component in shelf) - 1
    sentences = []
    if derived:
        were = "was" if derived == 1 else "were"
        over = "directly" if steps == 1 else f"in up to {formatters.format_plural(steps, 'step')}"
        sentences.append(f"{formatters.format_plural(derived, 'topic')} {were} made from others, {over}.")
    if mirrors:
        have = "pair of topics has" if mirrors == 1 else "pairs of topics have"
        sentences.append(f"{formatters.format_count(mirrors)} {have} the same rows: which one came first is not known.")
    return " ".join(sentences)


def _topic_body(name: str, groups: Mapping[str, TopicGroup]) -> dict[str, Any]:
    group = next((id_ for id_, group in groups.items() if name in group.topics), None)
    return {"name": name, "group": group}


def _link_body(link: TopicLink, ids: Mapping[str, str], max_fields: int) -> dict[str, Any]:
    return {
        "source": ids[link.source],
        "target": ids[link.target],
        "evidence": link.evidence,
        "directed": link.directed,
        "width": link.width,
        "title": edge_sentences.describe_link(link),
        "fields": [_field_body(edge) for edge in link.edges[:max_fields]],
        "more": max(0, len(link.edges) - max_fields),
    }


def _field_body(edge: LineageEdge) -> dict[str, Any]:
    """Return an edge for the script; what is not known is left out, since there may be thousands."""
    body = {
        "from": edge["from"]["field"],
        "to": edge["to"]["field"],
        "method": edge_sentences.describe_method(edge),
        "derivation": edge.get("description"),
        "score": f"{edge['score']:.4f}",
        "support": formatters.format_count(edge["support"]),
        "lag": edge_sentences.describe_lag(edge),
        "seen": edge_sentences.describe_times(edge),
        "example": edge_sentences.describe_example(edge),
    }
    return {name: text for name, text in body.items() if text or name in {"from", "to"}}


def _view_body(view: layout.LineageView) -> dict[str, Any]:
    return {
        "boxes": {key: [box.width, box.label] for key, box in view.boxes.items()},
        "groups": {
            key: {
                "label": group.label,
                "closed": group.closed_width,
                "width": group.width,
                "height": group.height,
                "places": group.places,
                "routes": _routes_body(group.routes),
                "entries": group.entries,
                "exits": group.exits,
            }
            for key, group in view.groups.items()
        },
        "shelves": [[_component_body(component) for component in shelf] for shelf in view.shelves],
    }


def _component_body(component: LayeredGraph) -> dict[str, Any]:
    return {
        "columns": [
            [[slot.key, slot.gap, slot.height if slot.is_bend else 0] for slot in column]
            for column in component.columns
        ],
        "routes": _routes_body(component.routes),
    }


def _routes_body(routes: Mapping[Edge, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    return {f"{left} {right}": route for (left, right), route in routes.items()}


@cache
def _make_environment() -> Environment:
    environment = make_environment()
    environment.filters |= {
        "count": formatters.format_count,
        "plural": formatters.format_plural,
        "short": shorten_label,
    }
    return environment
