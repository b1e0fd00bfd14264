"""Sources of an import: a file, a live registry, a ``_schemas`` topic."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from contractlog.clients.atransport import AsyncTransport
from contractlog.clients.cli.broker import Brokers
from contractlog.compatibility.errors import Forbidden, RegistryError, Unauthorized, Unreachable, UsageError
from contractlog.registry.moving.lines import read_lines
from contractlog.registry.moving.live import Live, Told
from contractlog.registry.moving.log import Replay
from contractlog.registry.moving.picture import Picture
from contractlog.registry.moving.progress import Progress
from contractlog.registry.moving.reaching import Access
from contractlog.registry.moving.report import Report
from contractlog.registry.moving.topic import SchemasTopic

__all__ = ["FileSource", "LiveSource", "Source", "TopicSource", "is_url", "opened"]

_SQLITE: Final = b"SQLite format 3\0"
_NAMELESS: Final = (
    "does not know who asks: give --source-user NAME and --source-password-file FILE (or CONTRACTLOG_SOURCE_PASSWORD), "
    "--source-token-file FILE, or --source-certificate FILE"
)


class Source(Protocol):
    """A source of a registry state."""

    def picture(self, report: Report) -> Picture:
        """Read the state; add oddities to the report.

        Raises:
            UsageError, Unreachable: it cannot be read.
        """

    def look(self, report: Report) -> Picture | None:
        """Read the state again; None if it has not changed.

        Raises:
            UsageError: this source never changes.
        """


def is_url(text: str) -> bool:
    """Return whether a text is the URL of a live registry."""
    return text.startswith(("http://", "https://"))


@contextmanager
def opened(
    source: str | None, *, brokers: Brokers | None, topic: str | None, timeout: float, access: Access | None = None
) -> Iterator[Source]:
    """Open the source that the arguments of a verb name.

    Args:
        source: a file, ``-`` for standard input, or the URL of a registry.
        brokers: those of the topic.
        topic: in place of ``source``.
        timeout: seconds for each response of a live registry.
        access: credentials for a live registry.
    """
    with ExitStack() as stack:
        if topic is not None and brokers is not None:
            yield TopicSource(stack.enter_context(SchemasTopic(brokers, topic)))
        elif source is not None and is_url(source):
            yield LiveSource(source, timeout, access or Access())
        else:
            yield FileSource(source or "-")


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file of ``contractlog export``."""

    path: str

    def picture(self, report: Report) -> Picture:
        """Read the file."""
        try:
            if self.path == "-":
                return read_lines(sys.stdin, report)
            with Path(self.path).open(encoding="utf-8") as file:
                return read_lines(file, report)
        except UnicodeDecodeError:
            what = f"`{self.path}` is no text in UTF-8, and so no file of `contractlog export`"
            raise UsageError(what + ("" if self.path == "-" else _database(self.path))) from None
        except OSError as error:
            live = "; the URL of a live registry begins with http:// or https://" if ":" in self.path else ""
            raise UsageError(f"`{self.path}` cannot be read: {error.strerror}{live}") from None

    def look(self, _report: Report) -> Picture | None:
        """Raise ``UsageError``: files do not change."""
        raise UsageError("--follow needs a live registry or a topic; a file does not change")


def _database(path: str) -> str:
    """Return the hint for a database that was given in place of an export."""
    with Path(path).open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return ""
    return f"; it is a database: run contractlog export --database-url 'sqlite:///{path}' --out FILE first"


@dataclass(frozen=True, slots=True)
class LiveSource:
    """A running registry with the reference's API."""

    url: str
    timeout: float
    access: Access = field(default_factory=Access)

    def picture(self, report: Report) -> Picture:
        """Read everything."""
        with Progress("reading the registry", "subjects or versions") as told:
            return asyncio.run(self._pictured(report, told))

    def look(self, _report: Report) -> Picture | None:
        """Read everything again; oddities were reported the first time."""
        return asyncio.run(self._pictured(Report(), lambda _done, _all: None))

    async def _pictured(self, report: Report, told: Told) -> Picture:
        transport = AsyncTransport(
            self.url, timeout=self.timeout, security=self.access.security, headers=self.access.headers
        )
        transport.untrusted = "name its CA by --source-ca FILE or CONTRACTLOG_SOURCE_CA"
        try:
            return await Live(transport, report, told).pictured()
        except Unauthorized:
            raise Unauthorized(f"{transport.urls[0]} {_NAMELESS}") from None
        except Forbidden as error:
            raise Forbidden(f"{transport.urls[0]} lets us read only a part of it: {error}") from None
        except Unreachable as error:
            reason = error.facts.get("reason") or error
            raise Unreachable(f"the source at {transport.urls[0]} cannot be reached ({reason})") from None
        except RegistryError as error:
            raise Unreachable(f"{transport.urls[0]} cannot be read: it answered {error.error_code} {error}") from None
        finally:
            await transport.close()


class TopicSource:
    """A ``_schemas`` topic; each ``look`` continues where the previous one ended."""

    def __init__(self, topic: SchemasTopic) -> None:
        self._topic = topic
        self._replay: Replay | None = None

    def picture(self, report: Report) -> Picture:
        """Replay the log up to its current end."""
        self._replay = Replay(report)
        with Progress("reading the topic", "records") as told:
            for record in self._topic.records(told):
                self._replay.apply(record)
        self._replay.conclude()
        return self._replay.pictured()

    def look(self, report: Report) -> Picture | None:
        """Apply the records added since."""
        if self._replay is None:
            return self.picture(report)
        before = self._topic.position
        for record in self._topic.records():
            self._replay.apply(record)
        return None if self._topic.position == before else self._replay.pictured()
