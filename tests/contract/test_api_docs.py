"""The commands of ``docs/api.md`` work as shown, and its tables agree with ``openapi.yaml``."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contractlog.registry.http.openapi_file import build_document

from support.deadlines import eventually
from support.registry import serve_in_thread

PAGE = (Path(__file__).parent.parent.parent / "docs" / "api.md").read_text("utf-8")
ADDRESS = "http://localhost:8081"
FILES = re.findall(r"^```json file=(\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
#: What another run answers otherwise: times, and days.
CHANGING = {
    "at",
    "previous_hash",
    "hash",
    "head_hash",
    "day",
    "last_day",
    "recorded_at",
    "first_published_at",
    "last_published_at",
    "ts",
    "created_at",
    "updated_at",
    "expires_at",
}


def shown() -> Iterator[tuple[str, Any]]:
    """Each command of the page with the answer below it."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for command, answer in re.findall(r"^\$ ([^\n]*)\n((?:[^$].*\n)*)", block, re.MULTILINE):
            yield command, json.loads(answer)


def lasting(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: type(one) if name in CHANGING else lasting(one) for name, one in answer.items()}
    return [lasting(one) for one in answer] if isinstance(answer, list) else answer


def test_every_command_answers_as_the_page_shows(tmp_path: Path) -> None:
    for name, text in FILES:
        (tmp_path / name).write_text(text)
    with serve_in_thread(f"sqlite:///{tmp_path / 'registry.db'}") as url:
        for command, expected in shown():
            assert ADDRESS in command
            local = command.replace(ADDRESS, url)
            if "/search?" in command:  # the index follows the journal
                eventually(lambda local=local, expected=expected: asked(local, tmp_path) == lasting(expected))  # type: ignore[misc]
            assert asked(local, tmp_path) == lasting(expected), command


def asked(command: str, folder: Path) -> Any:
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=True)
    return lasting(json.loads(done.stdout))


def own() -> dict[str, set[str]]:
    """The parameters of each of our own paths, by openapi.yaml."""
    return {
        path: {one["name"] for operation in operations.values() for one in operation.get("parameters", ())}
        for path, operations in build_document()["paths"].items()
        if path.startswith("/contractlog/v1/")
    }


@pytest.mark.parametrize(("path", "parameters"), own().items())
def test_every_request_of_our_own_has_its_section_with_its_parameters(path: str, parameters: set[str]) -> None:
    sections = [part for part in PAGE.split("\n## ")[1:] if f"{path}`" in part.partition("\n")[0]]
    assert len(sections) == 1
    listed = set(re.findall(r"^\| `(\w+)` \|", sections[0], re.MULTILINE))
    assert listed == parameters - set(re.findall(r"\{(\w+)\}", path))
    assert f"{path.partition('{')[0]}" in sections[0].partition("```console")[2]


@pytest.mark.parametrize("path", own())
def test_every_parameter_is_described_and_bounded(path: str) -> None:
    for operation in build_document()["paths"][path].values():
        for one in operation.get("parameters", ()):
            if one["in"] != "query":
                continue
            assert one.get("description"), one["name"]
            if one["schema"].get("type") in {"integer", "number"}:
                assert {"minimum", "maximum"} <= one["schema"].keys(), one["name"]
