"""The API reference in Chromium: light and dark, on phone and desktop, by keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.integration


def opened(browser: Browser, url: str, **context: Any) -> tuple[Page, list[str]]:
    """Open the page; return it, and what it asked of others or complained of."""
    page = browser.new_context(**context).new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(request.url) if not request.url.startswith(url) else None)
    page.on("requestfailed", lambda request: troubles.append(f"{request.url} failed"))
    answer = page.goto(f"{url}/contractlog/v1/docs")
    assert answer is not None
    assert answer.ok
    return page, troubles


def complaints(page: Page) -> list[Any]:
    """Return what axe has against the page, where it is visible."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in violations]


def unfold(page: Page, step: int) -> None:
    """Open each request, or one of so many: axe takes ten seconds for all, which have the same elements."""
    page.evaluate(
        "step => [...document.querySelectorAll('details')].forEach((node, at) => node.open = at % step == 0)", step
    )


@pytest.mark.parametrize(
    ("width", "scheme", "step"),
    [
        (390, "light", 6),
        (1400, "dark", 6),
        *(
            pytest.param(*view, 1, marks=pytest.mark.slow)
            for view in ((390, "light"), (390, "dark"), (820, "light"), (1400, "light"), (1400, "dark"))
        ),
    ],
)
def test_nothing_is_cut_off_and_axe_finds_nothing(
    browser: Browser, registry_url: str, width: int, scheme: str, step: int
) -> None:
    page, troubles = opened(browser, registry_url, color_scheme=scheme, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints(page) == []
    unfold(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    unfold(page, step)
    assert complaints(page) == []
    assert troubles == []


def test_one_gets_everywhere_by_keyboard(browser: Browser, registry_url: str) -> None:
    page, _ = opened(browser, registry_url, viewport={"width": 1400, "height": 900})
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the requests"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open") is True
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_a_link_to_a_request_shows_it(browser: Browser, registry_url: str) -> None:
    page, _ = opened(browser, registry_url)
    page.goto(f"{registry_url}/contractlog/v1/docs#get_contractlog_v1_search")
    section = page.locator("#get_contractlog_v1_search")
    assert section.is_visible()
    section.locator("summary").click()
    text = section.inner_text()
    assert "integer from 1 to 1,000; else 100" in text
    assert "exact, prefix" in text


def test_without_scripts_everything_can_be_read(browser: Browser, registry_url: str) -> None:
    page, troubles = opened(browser, registry_url, java_script_enabled=False)
    assert page.locator("details").count() > 60
    page.locator("summary").first.click()
    assert page.locator("table").first.is_visible()
    assert troubles == []
