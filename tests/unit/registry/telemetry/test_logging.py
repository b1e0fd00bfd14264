from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import OperationalError

from contractlog.registry.telemetry.logging import LogFormat, LogLevel, configure_logging

LOGGERS = ("contractlog", "contractlog.access", "uvicorn", "uvicorn.error", "sqlalchemy", "alembic")


@pytest.fixture(autouse=True)
def restored_loggers() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


@pytest.mark.parametrize("form", LogFormat)
def test_a_connection_lost_on_its_way_back_to_the_pool_is_one_line(
    form: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(form, LogLevel.WARNING, access=False)
    engine = create_engine("sqlite://")

    @event.listens_for(engine, "reset")
    def fail(*_: object) -> None:
        raise OperationalError("ROLLBACK", {}, Exception("the connection\nis lost"))

    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    (line,) = capsys.readouterr().err.splitlines()
    words = json.loads(line)["message"] if form is LogFormat.JSON else line
    assert "WARNING" in line.upper()
    assert "a connection to the database was lost and is replaced: (builtins.Exception) the connection is lost" in words
