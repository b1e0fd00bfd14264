"""The API reference is complete, self-contained, and readable without scripts."""

from __future__ import annotations

import gzip
import re
from html.parser import HTMLParser

import httpx2

PAGE = "/contractlog/v1/docs"


class Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.ids += [value or "" for name, value in attrs if name == "id"]


def test_the_page_shows_every_operation_and_loads_nothing_from_elsewhere(http: httpx2.Client) -> None:
    answer = http.get(PAGE)
    outline = Outline()
    outline.feed(answer.text)
    document = http.get("/contractlog/v1/openapi.json").json()
    operations = {one["operationId"] for methods in document["paths"].values() for one in methods.values()}
    assert operations <= set(outline.ids)
    assert outline.tags.count("h1") == 1
    assert {"header", "main", "nav"} <= set(outline.tags)
    assert "script" not in outline.tags
    assert not [link for link in outline.links if ":" in link or link.startswith("/")]
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert len(gzip.compress(answer.content)) < 60_000


def test_the_page_has_colours_for_light_and_dark_and_shows_the_focus(http: httpx2.Client) -> None:
    css = http.get(f"{PAGE}.css")
    assert css.headers["content-type"].startswith("text/css")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w+)", part)) for part in css.text.split("@media (prefers-color-scheme: dark)", 1)
    )
    dark = {name: dark[name] for name in light}
    for colours in (light, dark):
        for name in ("ink", "quiet", "accent"):
            for ground in ("paper", "tint"):
                assert contrast(colours[name], colours[ground]) >= 4.5
    assert ":focus-visible" in css.text


def contrast(one: str, other: str) -> float:
    def brightness(colour: str) -> float:
        parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)
