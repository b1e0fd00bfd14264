"""Deadlines that the engines get from the settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import Engine, QueuePool

from contractlog.compatibility.errors import UsageError
from contractlog.registry.database import create_engines
from contractlog.registry.settings import Settings
from contractlog.registry.storage.engines import Engines, mask_url, parse_url

SERVER: Final = "postgresql://me@db.invalid/registry"


class NotConnectedError(Exception):
    """Raised instead of connecting."""


@pytest.fixture
def connect_options(monkeypatch: pytest.MonkeyPatch) -> Callable[[Engine], dict[str, Any]]:
    """Return a function that returns the options with which an engine would connect."""
    options: dict[str, Any] = {}

    def capture(*_arguments: Any, **given: Any) -> None:
        options.update(given)
        raise NotConnectedError

    def connect(engine: Engine) -> dict[str, Any]:
        options.clear()
        with pytest.raises(NotConnectedError):
            engine.connect()
        return dict(options)

    monkeypatch.setattr(psycopg.Connection, "connect", capture)
    return connect


def checkout_seconds(engines: Engines) -> list[float]:
    pools = [engine.pool for engine in (engines.readers, engines.writer, engines.probe)]
    return [pool.timeout() for pool in pools if isinstance(pool, QueuePool)]


@pytest.mark.parametrize("url", [SERVER, "sqlite:///unused.db"])
def test_a_request_waits_for_a_connection_no_longer_than_the_settings_say(url: str) -> None:
    assert checkout_seconds(create_engines(Settings(database_url=url))) == [5.0] * 3
    assert checkout_seconds(create_engines(Settings(database_url=url, checkout_timeout_ms=100))) == [0.1] * 3


def test_connecting_and_statements_have_the_deadlines_of_the_settings(
    connect_options: Callable[[Engine], dict[str, Any]],
) -> None:
    engines = create_engines(Settings(database_url=SERVER))
    for engine in (engines.readers, engines.writer, engines.probe):
        options = connect_options(engine)
        assert options["connect_timeout"] == 3
        assert options["tcp_user_timeout"] == 10_000
        assert "statement_timeout=30000 -c lock_timeout=30000" in options["options"]
    engines = create_engines(Settings(database_url=SERVER, connect_timeout_ms=7_000, statement_timeout_ms=2_000))
    options = connect_options(engines.readers)
    assert options["connect_timeout"] == 7
    assert "statement_timeout=2000 -c lock_timeout=2000" in options["options"]


def test_a_call_without_response_has_the_deadlines_of_the_settings() -> None:
    responses = create_engines(Settings(database_url=SERVER)).responses
    assert responses is not None
    assert (responses.probe_after_seconds, responses.limit, responses.connect_limit) == (1.0, 35.0, 3.0)
    settings = Settings(
        database_url=SERVER, answer_timeout_ms=500, connect_timeout_ms=7_000, statement_timeout_ms=2_000
    )
    responses = create_engines(settings).responses
    assert responses is not None
    assert (responses.probe_after_seconds, responses.limit, responses.connect_limit) == (0.5, 7.0, 7.0)


@pytest.mark.parametrize("url", ["postgresql://me:s3cret@host:x1/db", "postgresql://me:s3@cret@host/db", "no url"])
def test_a_url_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UsageError, match="the database URL cannot be read") as refused:
        parse_url(url)
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("postgresql://me:s3cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:s3@cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:s3?cr/et@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host/db?password=s3cret", "postgresql://me@host/db?password=***"),
    ],
)
def test_passwords_are_masked(url: str, masked: str) -> None:
    assert mask_url(url) == masked
