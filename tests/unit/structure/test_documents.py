"""Rules for documents: links, glossary, locked versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from support.source_tree import PRODUCT, ROOT

LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)")

DOCUMENTS = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_link_of_a_document_leads_to_a_file(document: Path) -> None:
    wrong = []
    for target, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        path = document.parent / target if target else document
        if not path.exists() or (anchor and anchor not in anchors(path.read_text(encoding="utf-8"))):
            wrong.append(f"{target}#{anchor}")
    assert not wrong


def test_the_first_screen_of_the_readme_says_what_it_is_for_whom_why_and_how_to_install_it() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    screen = "\n".join(text.splitlines()[:40])
    parts = ["A schema registry for Kafka", "It is for ", "Why switch from ", "![", "pip install ", "## Try it"]
    positions = [screen.find(part) for part in parts]
    assert -1 not in positions
    assert positions == sorted(positions)
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", screen)
    assert len(pictures) == 2
    assert all((ROOT / picture).is_file() for picture in pictures)
    (install,) = re.findall(r"^.*pip install .*$", screen, re.MULTILINE)
    assert install in re.findall(r"```sh\n(.+)\n```", screen)


def test_figures_of_speed_in_the_readme_come_after_the_use_cases() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = re.search(r"times as (?:fast|many)|\b[\d.,]+ (?:µs|ms|times|records/s|requests/s)\b", text)
    assert figures is not None
    cases = ("## Run the registry", "## Register schemas from CI", "## Serialize records")
    assert max(map(text.index, cases)) < figures.start()


def test_each_file_that_the_architecture_names_exists() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+\.(?:py|md|yaml|toml))`", text))
    folders = [*PRODUCT, "docs", "examples", "tests"]
    existing = {path.name for path in ROOT.glob("*.*")}
    existing |= {str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*.*")}
    assert len(named) > 100
    assert sorted(name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in existing)) == []


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings: lower case, without punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def glossary() -> list[tuple[str, str]]:
    """Return (word, path of its module) of each row of the glossary."""
    row = re.compile(r"^\| ([^|]+?) \| .+? \| \[`([^`]+)`\]\(\.\./([^)]+)\) \|$", re.MULTILINE)
    rows = row.findall((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
    assert all(label == target for _, label, target in rows)
    return [(word, target) for word, _, target in rows]


def test_the_glossary_is_sorted_and_has_each_word_once() -> None:
    words = [word for word, _ in glossary()]
    assert len(words) > 40
    assert words == sorted(set(words))


def test_metadata_of_source_archives_is_that_of_the_locked_versions() -> None:
    """Else uv unpacks pyspark at each compilation, and keeps every copy."""
    locked = (ROOT / "requirements/dev.txt").read_text().splitlines()
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["dependency-metadata"]
    assert all(f"{package['name']}=={package['version']} \\" in locked for package in described)
