"""The report in Chromium: light and dark, on phone and desktop, by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.spark_validation.report.html_page import render

from support.reports import flights, part, report, violation

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.integration


def opened(browser: Browser, text: str, folder: Path, **context: Any) -> tuple[Page, list[str]]:
    """Open a report from a file; return the page and what it asked for or complained of."""
    file = folder / "report.html"
    file.write_text(text, "utf-8")
    page = browser.new_context(**context).new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(file.as_uri())
    return page, troubles


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (390, "light"),
        (820, "dark"),
        (1400, "light"),
        *(pytest.param(*view, marks=pytest.mark.slow) for view in ((390, "dark"), (820, "light"), (1400, "dark"))),
    ],
)
def test_nothing_is_cut_off_and_axe_finds_nothing(browser: Browser, tmp_path: Path, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    viewport = {"width": width, "height": 900}
    page, troubles = opened(browser, render(flights()), tmp_path, color_scheme=scheme, viewport=viewport)
    page.evaluate("for (const node of document.querySelectorAll('details')) node.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    results = Axe().run(page).response["violations"]
    assert [(found["id"], [node["html"][:120] for node in found["nodes"]]) for found in results] == []
    assert troubles == []


TOKENS_IN_TWO_LINES = """() => [...document.querySelectorAll("code")].flatMap((code) => {
    const found = [];
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const token of node.data.matchAll(/--[a-z-]+/g)) {
            const range = document.createRange();
            range.setStart(node, token.index);
            range.setEnd(node, token.index + token[0].length);
            if (range.getClientRects().length > 1) found.push(token[0]);
        }
    }
    return found;
})"""


@pytest.mark.parametrize("width", [320, 390])
def test_a_command_on_a_phone_breaks_inside_no_flag(browser: Browser, tmp_path: Path, width: int) -> None:
    parts = [  # of each length, so that each flag comes to the end of a line somewhere
        part(f"orders-{'x' * letters}", violations=[violation("TRUNCATED", 900)]) for letters in range(0, 60, 3)
    ]
    viewport = {"width": width, "height": 900}
    page, troubles = opened(browser, render(report(*parts)), tmp_path, viewport=viewport)
    page.evaluate("for (const node of document.querySelectorAll('details')) node.open = true")
    assert page.locator(".command").count() > 20
    assert page.evaluate(TOKENS_IN_TWO_LINES) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert troubles == []


def test_a_deep_link_opens_what_it_points_into(browser: Browser, tmp_path: Path) -> None:
    page, _ = opened(browser, render(flights()), tmp_path, viewport={"width": 820, "height": 900})
    page.evaluate("location.hash = 'topic/flights.departed/TRUNCATED/0/42'")
    example = page.locator("[id='topic/flights.departed/TRUNCATED/0/42']")
    example.wait_for(state="visible")
    assert "offset 42" in example.inner_text()


def test_without_scripts_everything_can_be_read(browser: Browser, tmp_path: Path) -> None:
    page, troubles = opened(browser, render(flights()), tmp_path, java_script_enabled=False)
    assert page.locator(".answer").is_visible()
    assert page.locator("#topics tbody tr").count() == 6
    assert troubles == []


def test_the_first_tab_skips_to_the_topics(browser: Browser, tmp_path: Path) -> None:
    page, _ = opened(browser, render(flights()), tmp_path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the topics"


def test_long_and_right_to_left_names_stay_inside(browser: Browser, tmp_path: Path) -> None:
    names = ["x" * 200, "موضوع-القيمة", "<b>bold</b>"]
    parts = [
        part(name, violations=[violation("TRUNCATED", 900, field="y" * 200, path="/fields" * 30)]) for name in names
    ]
    page, troubles = opened(browser, render(report(*parts)), tmp_path, viewport={"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert troubles == []
