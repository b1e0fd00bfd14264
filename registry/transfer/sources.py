"""Sources of an import: a file, a live registry, a ``_schemas`` topic."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from contractlog.clients.async_transport import AsyncTransport
from contractlog.clients.cli.broker import Brokers
from contractlog.clients.response_body import MemoryBudget
from contractlog.compatibility.errors import Forbidden, RegistryError, Unauthorized, Unreachable, UsageError
from contractlog.registry.transfer.file_format import read_lines
from contractlog.registry.transfer.progress import TransferProgress
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.rest_source import ProgressCallback, RestReader
from contractlog.registry.transfer.schemas_topic import SchemasTopic
from contractlog.registry.transfer.snapshot import RegistrySnapshot
from contractlog.registry.transfer.source_access import SourceAccess
from contractlog.registry.transfer.topic_replay import TopicReplay

__all__ = ["FileSource", "RestSource", "TopicSource", "TransferSource", "is_url", "open_source"]

_SQLITE: Final = b"SQLite format 3\0"
_MAX_MEMORY: Final = 4 << 30  #: for what a live registry answers; an endless one would fill the memory
_UNAUTHENTICATED: Final = (
    "does not know who asks: give --source-user NAME and --source-password-file FILE (or CONTRACTLOG_SOURCE_PASSWORD), "
    "--source-token-file FILE, or --source-certificate FILE"
)


class TransferSource(Protocol):
    """A source of a registry state."""

    def read_snapshot(self, report: TransferReport) -> RegistrySnapshot:
        """Read the state; add oddities to the report.

        Raises:
            UsageError, Unreachable: it cannot be read.
        """

    def poll(self, report: TransferReport) -> RegistrySnapshot | None:
        """Read the state again; None if it has not changed.

        Raises:
            UsageError: this source never changes.
        """


def is_url(text: str) -> bool:
    """Return whether a text is the URL of a live registry."""
    return text.startswith(("http://", "https://"))


@contextmanager
def open_source(
    source: str | None,
    *,
    brokers: Brokers | None,
    topic: str | None,
    timeout: float,
    access: SourceAccess | None = None,
) -> Iterator[TransferSource]:
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
            yield RestSource(source, timeout, access or SourceAccess())
        else:
            yield FileSource(source or "-")


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file of ``contractlog export``."""

    path: str

    def read_snapshot(self, report: TransferReport) -> RegistrySnapshot:
        """Read the file."""
        try:
            if self.path == "-":
                return read_lines(sys.stdin, report)
            with Path(self.path).open(encoding="utf-8") as file:
                return read_lines(file, report)
        except UnicodeDecodeError:
            what = f"`{self.path}` is no text in UTF-8, and so no file of `contractlog export`"
            raise UsageError(what + ("" if self.path == "-" else _database_hint(self.path))) from None
        except OSError as error:
            live = "; the URL of a live registry begins with http:// or https://" if ":" in self.path else ""
            raise UsageError(f"`{self.path}` cannot be read: {error.strerror}{live}") from None

    def poll(self, _report: TransferReport) -> RegistrySnapshot | None:
        """Raise ``UsageError``: files do not change."""
        raise UsageError("--follow needs a live registry or a topic; a file does not change")


def _database_hint(path: str) -> str:
    """Return the hint for a database that was given in place of an export."""
    with Path(path).open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return ""
    return f"; it is a database: run contractlog export --database-url 'sqlite:///{path}' --out FILE first"


@dataclass(frozen=True, slots=True)
class RestSource:
    """A running registry with the reference's API."""

    url: str
    timeout: float
    access: SourceAccess = field(default_factory=SourceAccess)

    def read_snapshot(self, report: TransferReport) -> RegistrySnapshot:
        """Read everything."""
        with TransferProgress("reading the registry", "subjects or versions") as report_progress:
            return asyncio.run(self._take_snapshot(report, report_progress))

    def poll(self, _report: TransferReport) -> RegistrySnapshot | None:
        """Read everything again; oddities were reported the first time."""
        return asyncio.run(self._take_snapshot(TransferReport(), lambda _done, _all: None))

    async def _take_snapshot(self, report: TransferReport, report_progress: ProgressCallback) -> RegistrySnapshot:
        transport = AsyncTransport(
            self.url, timeout=self.timeout, security=self.access.security, headers=self.access.headers
        )
        transport.budget = MemoryBudget(_MAX_MEMORY)
        transport.untrusted_advice = "name its CA by --source-ca FILE or CONTRACTLOG_SOURCE_CA"
        try:
            return await RestReader(transport, report, report_progress).take_snapshot()
        except Unauthorized:
            raise Unauthorized(f"{transport.urls[0]} {_UNAUTHENTICATED}") from None
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
    """A ``_schemas`` topic; each ``poll`` continues where the previous one ended."""

    def __init__(self, topic: SchemasTopic) -> None:
        self._topic = topic
        self._replay: TopicReplay | None = None

    def read_snapshot(self, report: TransferReport) -> RegistrySnapshot:
        """Replay the log up to its current end."""
        self._replay = TopicReplay(report)
        with TransferProgress("reading the topic", "records") as report_progress:
            for record in self._topic.records(report_progress):
                self._replay.apply(record)
        self._replay.conclude()
        return self._replay.take_snapshot()

    def poll(self, report: TransferReport) -> RegistrySnapshot | None:
        """Apply the records added since."""
        if self._replay is None:
            return self.read_snapshot(report)
        before = self._topic.position
        for record in self._topic.records():
            self._replay.apply(record)
        return None if self._topic.position == before else self._replay.take_snapshot()
