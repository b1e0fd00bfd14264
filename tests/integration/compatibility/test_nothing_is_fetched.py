"""Addresses and files in schemas are never opened, not even by libraries."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.external_locations import create_referring_schemas, process_schema

pytestmark = pytest.mark.integration


class Bait:
    """A port at which every visit is counted."""

    def __init__(self) -> None:
        self.visits = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            try:
                visit, _ = self._listener.accept()
            except OSError:
                return
            self.visits += 1
            visit.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def bait() -> Iterator[Bait]:
    bait = Bait()
    yield bait
    bait.close()


def test_the_bait_counts_a_visit(bait: Bait) -> None:
    with socket.create_connection(("127.0.0.1", bait.port)) as visit:
        assert visit.recv(1) == b""
    assert bait.visits == 1


@pytest.mark.parametrize("place", ["http://{}/a.json", "http://{}", "//{}/a.json", "https://{}/a", "ftp://{}/a"])
def test_no_address_is_visited(bait: Bait, place: str) -> None:
    outcomes = [
        outcome
        for kind, text in create_referring_schemas(place.format(f"127.0.0.1:{bait.port}"))
        for outcome in process_schema(kind, text)
    ]
    assert any(outcome.startswith("refused: ") and "is not fetched" in outcome for outcome in outcomes)
    assert bait.visits == 0


@pytest.mark.parametrize("place", ["file://{}", "file://localhost{}", "{}"])
def test_no_file_is_opened(tmp_path: Path, place: str) -> None:
    pipe = tmp_path / "a.json"
    os.mkfifo(pipe)  # who opens it to read waits for ever; who opens it at all is heard of
    opened = threading.Event()
    threading.Thread(target=_wait_for_a_reader, args=(pipe, opened), daemon=True).start()
    for kind, text in create_referring_schemas(place.format(pipe)):
        assert list(process_schema(kind, text))
    assert not opened.is_set()
    with pipe.open("rb"):
        assert opened.wait(60)


def _wait_for_a_reader(pipe: Path, opened: threading.Event) -> None:
    with pipe.open("wb"):
        opened.set()
