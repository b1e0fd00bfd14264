"""``compatibility`` does no I/O: it opens no file and no socket, whatever a schema contains."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import contractlog.compatibility
from contractlog.compatibility.schema import SchemaType

from support.external_locations import DRAFTS, create_referring_schemas, process_schema

PLACES = (
    *("http://127.0.0.1:9/a.json", "//127.0.0.1/a", "http://[", "//\u2100", "file:///etc/passwd", "/etc/passwd"),
    *("../../pyproject.toml", "/dev/stdin", "\\\\127.0.0.1\\share", "urn:a:b", "", "#", "?", "\x00"),
)
DRAFTS_HERE = (DRAFTS[0], DRAFTS[4])  # all of them in tests/integration/compatibility
OUTSIDE = ("open", "socket.", "urllib.", "http.", "ftplib.", "subprocess.", "os.system", "os.exec", "os.listdir")
IMPURE = {"asyncio", "datetime", "glob", "http", "io", "os", "pathlib", "random", "shutil", "socket", "subprocess"}
IMPURE |= {"tempfile", "time", "urllib.request", "urllib3", "requests", "uuid.uuid4"}


class Watch:
    """Hears of every event of the interpreter; a hook cannot be taken off, so there is one."""

    def __init__(self) -> None:
        self.on = False
        self.met: list[str] = []
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event.startswith(OUTSIDE):
            self.met.append(f"{event} {arguments[:1]}")

    @contextmanager
    def listening(self) -> Iterator[None]:
        self.met.clear()
        self.on = True
        try:
            yield
        finally:
            self.on = False


@pytest.fixture(scope="module")
def watch() -> Watch:
    for kind in (SchemaType.JSON, SchemaType.AVRO):  # what is imported when it is first used
        for other, text in create_referring_schemas("x"):
            if other is kind:
                list(process_schema(kind, text))
    return Watch()


def test_the_watch_hears_of_files_and_addresses(watch: Watch) -> None:
    with watch.listening():
        Path(__file__).read_bytes()
    assert watch.met


@pytest.mark.parametrize("place", PLACES)
def test_no_place_that_a_schema_names_is_opened(watch: Watch, place: str) -> None:
    for kind, text in create_referring_schemas(place, DRAFTS_HERE):
        with watch.listening():
            outcomes = list(process_schema(kind, text))
        assert outcomes
        assert watch.met == []


def test_no_module_of_the_heart_knows_files_clocks_or_chance() -> None:
    (folder,) = contractlog.compatibility.__path__
    files = sorted(Path(folder).rglob("*.py"))
    assert len(files) > 50
    assert {name for file in files for name in _reached_for(ast.parse(file.read_text("utf-8")))} == set()


def _reached_for(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names if one.name in IMPURE)
            case ast.ImportFrom(module=str() as module) if module in IMPURE:
                yield module
            case ast.Call(func=ast.Name(id="open" | "input" | "print" as name)):
                yield name
