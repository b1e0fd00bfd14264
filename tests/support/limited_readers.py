"""Readers in a separate process with limits per record: 100 MB of memory and twenty seconds."""

from __future__ import annotations

import mmap
import os
import resource
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader
from contractlog.serdes.avro.readers_and_writers import AvroReader
from contractlog.serdes.errors import DecodeError, ReaderMismatch

from support.java_value_comparison import encode_value
from support.record_corpus import Subject

__all__ = ["MEGABYTES", "SECONDS", "ConfinedReaders", "ReadResult", "ReaderDied"]

SECONDS, MEGABYTES = 20.0, 100
PATIENCE: Final = 120.0  #: seconds to wait for the results of a batch
MISMATCH: Final = "READER_MISMATCH"
LARGE: Final = 50_000  #: characters of a value that is not returned: hundreds of them would exceed the memory limit
_AT: Final = struct.Struct("<q")


class ReaderDied(Exception):
    """The process ended or did not respond; the message has the index of the record."""

    def __init__(self, how: str, index: int) -> None:
        super().__init__(f"{how} at record {index} of its batch")
        self.index = index


@dataclass(frozen=True, slots=True)
class ReadResult:
    """Result of reading a body: CONFORMS, the outcome of an error, or an unexpected exception."""

    outcome: str
    seconds: float
    value: Any = None  #: encoded, if requested and not too large
    has_value: bool = False
    as_interpreted: bool = True  #: whether the interpreter has the same result, if requested


class ConfinedReaders:
    """A child process that reads batches of bodies, and is restarted if it dies."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._subjects = subjects
        self._at = mmap.mmap(-1, _AT.size)
        self._child = 0
        self._pipe: Connection | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._stop()

    def ask(self, subject: int, bodies: Sequence[bytes], *, thorough: bool) -> None:
        """Send a batch; ``thorough`` requests values, and a comparison with the interpreter."""
        assert self._pipe is not None
        self._pipe.send((subject, bodies, thorough))

    def answers(self) -> list[ReadResult]:
        """Return the results of the batch, in order.

        Raises:
            ReaderDied: there are no results; the process is restarted.
        """
        assert self._pipe is not None
        try:
            if self._pipe.poll(PATIENCE):
                answers: list[ReadResult] = self._pipe.recv()
                return answers
            how = f"no response in {PATIENCE:.0f} s"
        except EOFError:
            how = "the process died"
        index = _AT.unpack_from(self._at)[0]
        self._stop()
        self._start()
        raise ReaderDied(how, index)

    def _start(self) -> None:
        ours, theirs = Pipe()
        self._child = os.fork()
        if self._child == 0:
            status = 1
            try:
                ours.close()
                limit = _measure_address_space() + MEGABYTES * 2**20
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
                self._serve(theirs)
                status = 0
            finally:
                os._exit(status)
        theirs.close()
        self._pipe = ours

    def _stop(self) -> None:
        assert self._pipe is not None
        self._pipe.close()
        os.kill(self._child, 9)
        os.waitpid(self._child, 0)

    def _serve(self, pipe: Connection) -> None:
        readers: dict[int, tuple[AvroReader, InterpretedReader]] = {}
        while True:
            try:
                number, bodies, thorough = pipe.recv()
            except EOFError:
                return
            if number not in readers:
                writer, reader = self._subjects[number].schemas()
                readers[number] = AvroReader(writer, reader), InterpretedReader(writer, reader)
            pipe.send([self._answer(index, readers[number], body, thorough) for index, body in enumerate(bodies)])

    def _answer(self, index: int, readers: tuple[Any, Any], body: bytes, thorough: bool) -> ReadResult:  # noqa: FBT001
        _AT.pack_into(self._at, 0, index)
        start = time.thread_time()
        outcome, value = _read(readers[0], body)
        seconds = time.thread_time() - start
        if not thorough:
            return ReadResult(outcome, seconds)
        text = repr(value)  # shows every type, and is smaller than the values
        small = len(text) < LARGE
        answer = encode_value(value) if small else None
        del value
        other, value = _read(readers[1], body)
        return ReadResult(outcome, seconds, answer, small, (other, repr(value)) == (outcome, text))


def _read(reader: Any, body: bytes) -> tuple[str, Any]:
    try:
        return "CONFORMS", reader.decode(body)
    except ReaderMismatch:
        return MISMATCH, None
    except DecodeError as error:
        return (error.outcome.name if error.outcome else "NO OUTCOME"), None
    except BaseException as problem:  # noqa: BLE001 -- any other exception is a defect
        return f"untyped: {type(problem).__name__}: {problem}"[:300], None


def _measure_address_space() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
