"""The lineage page in Chromium: labels, pan, zoom, search, paths, explanations, and without script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.report.lineage_page.page import render_lineage

from support.lineage_estates import make_edge, make_estate

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.integration

#: Texts that overlap another one or leave their box, by the rectangles that Chromium draws.
COLLISIONS = """() => {
    const box = (node) => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
    const texts = [...document.querySelectorAll("#scene text")].map((node) => {
        const owner = node.closest(".header")?.querySelector("rect") ?? node.parentNode.querySelector("rect");
        return { text: node.textContent, at: box(node), owner: box(owner) };
    });
    const found = [];
    const slack = 0.5;
    for (const each of texts) {
        const [l, t, r, b] = each.at, [ol, ot, or, ob] = each.owner;
        if (l < ol - slack || t < ot - slack || r > or + slack || b > ob + slack) found.push(["outside", each.text]);
    }
    texts.sort((a, b) => a.at[0] - b.at[0]);
    texts.forEach((each, index) => {
        for (const other of texts.slice(index + 1)) {
            if (other.at[0] >= each.at[2] - slack) break;
            const apart = other.at[1] >= each.at[3] - slack || each.at[1] >= other.at[3] - slack;
            if (!apart) found.push([each.text, other.text]);
        }
    });
    return [texts.length, found];
}"""


@cache
def big_page() -> str:
    return render_lineage(make_estate(25, 20), [f"idle.{number}" for number in range(30)])


def opened(browser: Browser, text: str, folder: Path, **context: Any) -> tuple[Page, list[str]]:
    """Open a page from a file; return it and what it asked for or complained of."""
    file = folder / "lineage.html"
    file.write_text(text, "utf-8")
    page = browser.new_context(**context).new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(file.as_uri())
    return page, troubles


def scale(page: Page) -> float:
    return float(page.evaluate("document.getElementById('scene').transform.baseVal.consolidate().matrix.a"))


def position(page: Page) -> tuple[float, float]:
    matrix = page.evaluate(
        "(({e, f}) => [e, f])(document.getElementById('scene').transform.baseVal.consolidate().matrix)"
    )
    return matrix[0], matrix[1]


def topics(page: Page, state: str = "") -> set[str]:
    """Return the names of the topics that are drawn, in some state."""
    return set(page.locator(f"#scene .topic{state} title").all_text_contents())


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_labels_of_500_topics_never_collide(browser: Browser, tmp_path: Path, width: int) -> None:
    page, troubles = opened(browser, big_page(), tmp_path, viewport={"width": width, "height": 900})
    texts, found = page.evaluate(COLLISIONS)
    assert texts == 50, "25 closed groups"
    assert found == []
    page.get_by_role("button", name="Open groups").click()
    page.keyboard.press("0")
    texts, found = page.evaluate(COLLISIONS)
    assert texts == 525
    assert found == []
    page.get_by_role("button", name="Without groups").click()
    assert page.evaluate(COLLISIONS) == [500, []]
    for _ in range(8):
        page.get_by_role("button", name="Zoom in").click()
    assert page.evaluate(COLLISIONS) == [500, []]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert troubles == []


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (390, "light"),
        (1400, "dark"),
        *(pytest.param(*view, marks=pytest.mark.slow) for view in ((390, "dark"), (1400, "light"))),
    ],
)
def test_axe_finds_nothing(browser: Browser, tmp_path: Path, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    edges = [*make_estate(3, 6), make_edge("mirror.a", "mirror.b", direction="unknown")]
    viewport = {"width": width, "height": 900}
    text = render_lineage(edges, ["alone"])
    page, troubles = opened(browser, text, tmp_path, color_scheme=scheme, viewport=viewport)

    def complaints() -> list[Any]:
        violations = Axe().run(page).response["violations"]
        return [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in violations]

    assert complaints() == []
    page.locator(".link").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".panel").is_visible()
    assert complaints() == []
    page.get_by_label("Find a topic or field").fill("id")
    assert page.locator("#list").is_visible()
    assert complaints() == []
    assert troubles == []


@pytest.mark.parametrize("edges", [make_estate(3, 8), make_estate(25, 20)], ids=["open", "closed"])
def test_the_script_draws_what_the_page_shows_without_it(
    browser: Browser, tmp_path: Path, edges: Sequence[LineageEdge]
) -> None:
    shapes = """() => {
        const numbers = (text) => (text ?? "").match(/-?[0-9.]+/g)?.map((n) => Math.round(Number(n) * 2) / 2) ?? [];
        const describe = (selector, of) => [...document.querySelectorAll(selector)].map(of).sort();
        return [
            describe("#scene .topic, #scene .group, #scene .frame", (node) => JSON.stringify([
                node.getAttribute("class").split(" ")[0], numbers(node.getAttribute("transform")),
                [...node.querySelectorAll("text")].map((text) => text.textContent)])),
            describe("#scene .line", (node) => JSON.stringify([
                ...["class", "marker-end"].map((name) => node.getAttribute(name)),
                Number(node.getAttribute("stroke-width")), numbers(node.getAttribute("d")).length])),
            describe("#scene .line", (node) => JSON.stringify(numbers(node.getAttribute("d")).map(Math.round))),
        ];
    }"""
    text = render_lineage(edges, [])
    static, troubles = opened(browser, text, tmp_path, java_script_enabled=False)
    live, more = opened(browser, text, tmp_path)
    without = static.context.new_cdp_session(static)  # scripts of the page are off, those of the test run
    found = without.send("Runtime.evaluate", {"expression": f"({shapes})()", "returnByValue": True})
    boxes, styles, paths = found["result"]["value"]
    live_boxes, live_styles, live_paths = live.evaluate(shapes)
    assert boxes
    assert live_boxes == boxes
    assert live_styles == styles
    pairs = [(sorted_numbers(a), sorted_numbers(b)) for a, b in zip(paths, live_paths, strict=True)]
    assert all(len(a) == len(b) and max(abs(x - y) for x, y in zip(a, b, strict=True)) <= 1 for a, b in pairs)
    assert troubles + more == []


def sorted_numbers(text: str) -> list[float]:
    import json

    return [float(number) for number in json.loads(text)]


def test_without_script_the_picture_and_the_table_can_be_read(browser: Browser, tmp_path: Path) -> None:
    edges = [make_edge("orders", "late"), make_edge("orders", "late", "total", evidence="declared")]
    page, troubles = opened(browser, render_lineage(edges, []), tmp_path, java_script_enabled=False)
    assert page.locator("#scene .topic").count() == 2
    assert page.locator("#scene .link").count() == 2
    assert page.locator("tbody tr").count() == 2
    assert page.locator(".tools").is_hidden()
    assert page.locator(".with-script").is_hidden()
    assert troubles == []


def test_a_picture_can_be_moved_and_zoomed_by_mouse(browser: Browser, tmp_path: Path) -> None:
    page, troubles = opened(browser, big_page(), tmp_path, viewport={"width": 1400, "height": 900})
    x, y = position(page)
    canvas = page.locator(".canvas").bounding_box()
    assert canvas is not None
    at = canvas["x"] + 5, canvas["y"] + 5
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 120, at[1] + 40, steps=4)
    page.mouse.up()
    assert position(page) == pytest.approx((x + 120, y + 40))
    before = scale(page)
    page.mouse.wheel(0, -240)
    page.wait_for_function(f"document.getElementById('scene').transform.baseVal.consolidate().matrix.a > {before}")
    page.get_by_role("button", name="Fit").click()
    rectangle = page.locator("#scene").bounding_box()
    assert rectangle is not None
    assert rectangle["x"] >= canvas["x"]
    assert rectangle["x"] + rectangle["width"] <= canvas["x"] + canvas["width"]
    assert troubles == []


def test_a_picture_can_be_moved_and_zoomed_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    page, troubles = opened(browser, big_page(), tmp_path)
    page.locator(".canvas").focus()
    x, y = position(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert position(page) == pytest.approx((x - 64, y - 64))
    before = scale(page)
    page.keyboard.press("+")
    assert scale(page) == pytest.approx(before * 1.25)
    page.keyboard.press("-")
    assert scale(page) == pytest.approx(before)
    page.keyboard.press("+")
    page.keyboard.press("0")
    assert scale(page) == pytest.approx(before), "all of it"
    assert position(page) == pytest.approx((x, y))
    assert troubles == []


def test_two_fingers_zoom_and_one_finger_moves(browser: Browser, tmp_path: Path) -> None:
    viewport = {"width": 390, "height": 844}
    page, troubles = opened(browser, big_page(), tmp_path, viewport=viewport, has_touch=True, is_mobile=True)
    page.locator(".canvas").scroll_into_view_if_needed()
    canvas = page.locator(".canvas").bounding_box()
    assert canvas is not None
    x, y = canvas["x"] + 150, canvas["y"] + 20
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        touched = [{"x": px, "y": py, "id": number} for number, (px, py) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    start = position(page)
    touch("touchStart", (x, y))
    touch("touchMove", (x + 30, y + 20))
    touch("touchMove", (x + 60, y + 40))
    touch("touchEnd")
    moved = position(page)
    assert moved[0] > start[0] + 20
    assert moved[1] > start[1] + 10
    before = scale(page)
    touch("touchStart", (x, y), (x + 60, y))
    touch("touchMove", (x, y), (x + 90, y))
    touch("touchMove", (x, y), (x + 120, y))
    touch("touchEnd")
    assert scale(page) > before * 1.3
    assert troubles == []


def test_search_lists_topics_and_fields_and_enter_goes_to_the_next(browser: Browser, tmp_path: Path) -> None:
    page, troubles = opened(browser, big_page(), tmp_path, viewport={"width": 1400, "height": 900})
    search = page.get_by_label("Find a topic or field")
    search.fill("ORDERS.raw")
    assert page.locator("#list button").all_text_contents() == ["orders.raw"]
    assert page.locator(".group.match").count() == 1, "the closed group that has it"
    search.press("Enter")
    assert topics(page, ".current") == {"orders.raw"}
    assert page.locator("#matches").text_content() == "1 of 1 match in 1 topic"
    search.fill("carrier")
    assert "field legs[].carrier" in (page.locator("#list button").first.text_content() or "")
    search.press("Enter")
    first = topics(page, ".current")
    search.press("Enter")
    assert topics(page, ".current") not in ({*()}, first)
    search.press("Shift+Enter")
    assert topics(page, ".current") == first
    current, canvas = page.locator(".topic.current").bounding_box(), page.locator(".canvas").bounding_box()
    assert current is not None
    assert canvas is not None
    assert canvas["x"] <= current["x"] <= canvas["x"] + canvas["width"]
    assert canvas["y"] <= current["y"] <= canvas["y"] + canvas["height"]
    search.fill("no such thing")
    assert page.locator("#matches").text_content() == "no match"
    assert troubles == []


PIPELINE = [
    make_edge("raw", "clean", "id"),
    make_edge("raw", "clean", "total", to="amount"),
    make_edge("clean", "daily", "amount", to="sum"),
    make_edge("clean", "names", "id"),
    make_edge("raw", "copy", "id"),
    make_edge("other", "names", "name"),
    make_edge("x", "y", "id", direction="unknown"),
]


def test_a_selected_topic_leaves_only_its_path_prominent(browser: Browser, tmp_path: Path) -> None:
    page, troubles = opened(browser, render_lineage(PIPELINE, []), tmp_path, viewport={"width": 1400, "height": 900})
    page.locator('.topic[data-key]:has(title:text-is("clean"))').click()
    assert topics(page, ":not(.faded)") == {"raw", "clean", "daily", "names"}
    assert topics(page, ".faded") == {"copy", "other", "x", "y"}
    assert "4 topics: 1 step up to sources, 1 step down" in page.locator(".panel").inner_text()
    page.locator(".panel").get_by_role("button", name="amount").click()
    assert topics(page, ":not(.faded)") == {"raw", "clean", "daily"}, "the path of the field alone"
    page.keyboard.press("Escape")
    assert topics(page, ".faded") == set()
    assert page.locator(".panel").is_hidden()
    assert troubles == []


def test_a_path_has_an_address(browser: Browser, tmp_path: Path) -> None:
    page, _ = opened(browser, render_lineage(PIPELINE, []), tmp_path)
    page.locator('.topic:has(title:text-is("daily"))').click()
    page.reload()
    assert topics(page, ".selected") == {"daily"}
    assert topics(page, ":not(.faded)") == {"raw", "clean", "daily"}


def test_an_edge_explains_itself_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    edge: LineageEdge = {
        **make_edge("orders", "late", "total", to="amount", method="function"),
        "description": "amount = total / 100 & <b>more</b>",
        "lag_quantiles_ms": {"p05": 100.0, "p50": 1500.0, "p95": 9000.0},
        "first_seen": "2013-07-01T04:12:00Z",
        "last_seen": "2013-07-02T04:12:00Z",
        "example": {"from": {"partition": 0, "offset": 42}, "to": {"partition": 1, "offset": 40}},
    }
    page, troubles = opened(browser, render_lineage([edge], []), tmp_path)
    page.locator(".canvas").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    panel = page.locator(".panel").inner_text()
    for words in (
        "late was made from orders",
        "amount ← total",
        "computed: equal values of the source have equal values",
        "amount = total / 100 & <b>more</b>",
        "proven by the values of records",
        "0.98",
        "812 sampled records",
        "median 1.5 s; 5 % within 100 ms, 95 % within 9.0 s",
        "1 July 2013 04:12 UTC to 2 July 2013 04:12 UTC",
        "offset 40 of partition 1 in late was made from offset 42 of partition 0 in orders",
    ):
        assert words in panel
    assert troubles == []


def test_an_edge_without_direction_says_so(browser: Browser, tmp_path: Path) -> None:
    page, _ = opened(browser, render_lineage(PIPELINE, []), tmp_path)
    link = page.locator(".link.undirected")
    assert link.locator(".line").get_attribute("marker-end") is None
    link.focus()
    page.keyboard.press("Enter")
    assert "Direction unknown: either topic may have been made from the other" in page.locator(".panel").inner_text()


def test_a_group_opens_and_closes_and_the_picture_is_as_before(browser: Browser, tmp_path: Path) -> None:
    page, troubles = opened(browser, big_page(), tmp_path, viewport={"width": 1400, "height": 900})
    drawn = (
        "[...document.querySelectorAll('#scene [data-key]')].map((n) => [n.dataset.key, n.getAttribute('transform')])"
    )
    before = page.evaluate(drawn)
    page.locator(".group").first.focus()
    page.keyboard.press("Enter")
    assert len(topics(page)) == 20
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true", "the focus stays"
    assert page.evaluate(COLLISIONS)[1] == []
    page.keyboard.press("Enter")
    assert page.evaluate(drawn) == before
    link = page.locator(".link").first
    link.focus()
    page.keyboard.press("Enter")
    assert page.locator(".panel li button").count() >= 1 or "was made from" in page.locator(".panel").inner_text()
    assert troubles == []


def test_hostile_names_are_text_everywhere(browser: Browser, tmp_path: Path) -> None:
    names = [
        "</script><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "__proto__",
        "constructor",
        "m" * 249,
    ]
    edges = [make_edge(names[0], name, names[1], to=names[0]) for name in names[1:]]
    page, troubles = opened(browser, render_lineage(edges, []), tmp_path, viewport={"width": 390, "height": 844})
    search = page.get_by_label("Find a topic or field")
    search.fill("script")
    search.press("Enter")
    page.locator("#list button").first.click()
    page.locator(".panel li button").first.click()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.evaluate(COLLISIONS)[1] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert troubles == []
