"""Logs on stderr, as text or as one JSON object per line."""

from __future__ import annotations

import json
import logging
import sys
from copy import copy
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["LogFormat", "LogLevel", "configure_logging"]


class LogFormat(StrEnum):
    """Format of log lines."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """Lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_POOL: Final = "sqlalchemy.pool"
_LIBRARIES: Final = ("uvicorn", "uvicorn.error", "sqlalchemy", "alembic")


def configure_logging(form: LogFormat, level: LogLevel, *, access: bool) -> None:
    """Set up the loggers of a serving process."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if form is LogFormat.JSON else _TextFormatter())
    handler.addFilter(_shorten_lost_connection)
    own = logging.getLogger("contractlog")
    own.handlers[:] = [handler]
    own.propagate = False
    own.setLevel(level.upper())
    logging.getLogger("contractlog.access").setLevel(logging.INFO if access else logging.CRITICAL)
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)


def _shorten_lost_connection(record: logging.LogRecord) -> bool:
    """Shorten the stack trace of a connection that was lost on its way back to SQLAlchemy's pool.

    The pool opens another one, and no request is affected.
    """
    if record.name.startswith(_POOL) and record.exc_info and record.exc_info[1] is not None:
        error = " ".join(str(record.exc_info[1]).split())
        record.msg, record.args = f"a connection to the database was lost and is replaced: {error}", None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = None
    return True


class _JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and the fields as members."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


class _TextFormatter(logging.Formatter):
    """One line of text; fields follow as name=value, and unprintable characters are escaped."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", datefmt="%Y-%m-%dT%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """Format a line, followed by the stack trace if there is one."""
        fields = getattr(record, "fields", {})
        facts = "".join(f" {name}={_format_value(value)}" for name, value in fields.items())
        escaped = copy(record)
        escaped.msg, escaped.args = escape_line(record.getMessage()), None
        head, newline, trace = super().format(escaped).partition("\n")
        return f"{head}{facts}{newline}{trace}"


def _format_value(value: object) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)
