"""Layout of groups and topics: boxes never overlap, whichever groups are open."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from contractlog.spark_validation.report.lineage_page.layout import LineageView, Place, lay_out, place_boxes
from contractlog.spark_validation.report.lineage_page.topic_graph import link_topics
from contractlog.spark_validation.report.lineage_page.topic_groups import TopicGroup, group_topics

from support.lineage_estates import make_estate


def laid_out(seed: int, *, grouped: bool, opened: bool, topics: int = 12) -> tuple[LineageView, set[str]]:
    links = link_topics(make_estate(6, topics, seed))
    names = sorted({topic for link in links for topic in (link.source, link.target)})
    ids = {name: f"t{number:05}" for number, name in enumerate(names)}
    pairs = sorted({(ids[link.source], ids[link.target]) for link in links})
    found: list[TopicGroup] = group_topics(names) if grouped else []
    groups = {f"g{number:05}": group for number, group in enumerate(found)}
    all_open = set(groups) if opened else set()
    return lay_out({id_: name for name, id_ in ids.items()}, pairs, groups, all_open), all_open


def overlap(a: Place, b: Place) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def contains(outer: Place, inner: Place) -> bool:
    right, bottom = inner.x + inner.width, inner.y + inner.height
    within = outer.x <= inner.x and outer.y <= inner.y
    return within and right <= outer.x + outer.width and bottom <= outer.y + outer.height


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["grouped", "flat"])
def test_boxes_do_not_overlap_whichever_groups_are_open(seed: int, kind: str) -> None:
    random = Random(seed)  # noqa: S311 - reproducible
    view, _ = laid_out(seed, grouped=kind == "grouped", opened=bool(seed % 2))
    for chosen in (set(), set(view.groups), {key for key in view.groups if random.random() < 0.5}):
        places, _ = place_boxes(view, chosen)
        boxes = {key: box for key, box in places.items() if key not in chosen}
        assert [pair for pair in combinations(boxes, 2) if overlap(boxes[pair[0]], boxes[pair[1]])] == []
        frames = [places[key] for key in chosen]
        assert not any(overlap(a, b) for a, b in combinations(frames, 2))
        for key in chosen:
            assert all(contains(places[key], places[topic]) for topic in view.groups[key].places)


@pytest.mark.parametrize("seed", range(5))
def test_long_edges_pass_between_boxes(seed: int) -> None:
    view, opened = laid_out(seed, grouped=True, opened=True)
    places, bends = place_boxes(view, opened)
    outer = [box for key, box in places.items() if key.startswith("g") or key not in _inner(view)]
    for left, y, right in bends.values():
        assert not any(box.y < y < box.y + box.height and box.x < right and left < box.x + box.width for box in outer)
    for group in view.groups.values():
        parts = [*group.routes.values(), *group.entries.values(), *group.exits.values()]
        for left, y, right in (segment for segments in parts for segment in segments):
            inside = [box for box in group.places.values() if box.x < right and left < box.x + box.width]
            assert not any(box.y < y < box.y + box.height for box in inside if left < right)


def _inner(view: LineageView) -> set[str]:
    return {topic for group in view.groups.values() for topic in group.places}


def test_labels_fit_into_their_boxes() -> None:
    view, _ = laid_out(1, grouped=False, opened=False, topics=20)
    assert max(box.width for box in view.boxes.values()) <= 230
    assert any("…" in box.label for box in view.boxes.values())


def test_in_a_group_the_prefix_is_left_out() -> None:
    view, _ = laid_out(1, grouped=True, opened=True)
    assert "raw" in {box.label for box in view.boxes.values()}
