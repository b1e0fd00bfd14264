"""Large responses are sent in pieces, to clients that receive them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from contractlog.compatibility.errors import StoreError
from contractlog.registry.execution.large_responses import LargeResponse
from contractlog.registry.http.api_response import PieceResponse


async def pieces(*, fails: bool = False) -> AsyncIterator[bytes]:
    yield b"[1"
    if fails:
        raise StoreError(detail="it is unavailable")
    yield b",2]"


def respond(response: PieceResponse, *, stalls_at: bytes | None = None) -> list[bytes]:
    """Return the bodies that a client receives, which takes no more from a body on."""
    received: list[bytes] = []

    async def send(message: Any) -> None:
        if "body" in message:
            if message["body"] == stalls_at:
                await asyncio.Event().wait()
            received.append(message["body"])

    async def receive() -> Any:
        raise AssertionError

    asyncio.run(response({"type": "http"}, receive, send))
    return received


def test_the_pieces_are_sent_and_the_slot_is_released() -> None:
    left: list[bool] = []
    assert respond(PieceResponse(pieces(), LargeResponse("a"), lambda: left.append(True))) == [b"[1", b",2]", b""]
    assert left == [True]


def test_a_response_without_its_end_is_not_completed(caplog: pytest.LogCaptureFixture) -> None:
    left: list[bool] = []
    with caplog.at_level(logging.WARNING):
        assert respond(PieceResponse(pieces(fails=True), LargeResponse("a"), lambda: left.append(True))) == [b"[1"]
    assert left == [True]
    assert "a response was cut off" in caplog.text


def test_a_client_that_receives_a_piece_too_slowly_keeps_no_slot(caplog: pytest.LogCaptureFixture) -> None:
    left: list[bool] = []
    response = PieceResponse(pieces(), LargeResponse("a"), lambda: left.append(True), piece_seconds=0.01)
    with caplog.at_level(logging.WARNING):
        assert respond(response, stalls_at=b",2]") == [b"[1"]
    assert left == [True]
    assert "it needs more than 0.01 s for a piece" in caplog.text
