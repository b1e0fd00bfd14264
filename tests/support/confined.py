"""Readers in a process of their own, which may take 100 MB and twenty seconds for a record, and whose death is told."""

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

from contractlog.serdes.avro.body_codec import AvroReader
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader
from contractlog.serdes.errors import DecodeError, ReaderMismatch

from support.java_values import told
from support.record_corpus import Subject

__all__ = ["MEGABYTES", "SECONDS", "Answer", "ConfinedReaders", "Died"]

SECONDS, MEGABYTES = 20.0, 100
PATIENCE: Final = 120.0  #: how long a whole batch may be silent
MISMATCH: Final = "READER_MISMATCH"
LARGE: Final = 50_000  #: letters of a value that is not told: hundreds of them would not fit beside the readers
_AT: Final = struct.Struct("<q")


class Died(Exception):
    """The process ended, or did not answer; says at which record."""

    def __init__(self, how: str, index: int) -> None:
        super().__init__(f"{how} at record {index} of its batch")
        self.index = index


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a body: CONFORMS, the outcome of an error, or what else was raised."""

    outcome: str
    seconds: float
    value: Any = None  #: told, where it was asked for and is not too large
    told: bool = False  #: whether it is
    as_interpreted: bool = True  #: whether the interpreter says the same, where it was asked


class ConfinedReaders:
    """A child process that reads batches of bodies; started again when it died."""

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
        """Hand over a batch; ``thorough`` asks for values, and for the interpreter's answers."""
        assert self._pipe is not None
        self._pipe.send((subject, bodies, thorough))

    def answers(self) -> list[Answer]:
        """Return the answers to the batch, in order.

        Raises:
            Died: there are none; the process is started again.
        """
        assert self._pipe is not None
        try:
            if self._pipe.poll(PATIENCE):
                answers: list[Answer] = self._pipe.recv()
                return answers
            how = f"no answer in {PATIENCE:.0f} s"
        except EOFError:
            how = "the process died"
        index = _AT.unpack_from(self._at)[0]
        self._stop()
        self._start()
        raise Died(how, index)

    def _start(self) -> None:
        ours, theirs = Pipe()
        self._child = os.fork()
        if self._child == 0:
            status = 1
            try:
                ours.close()
                limit = _address_space() + MEGABYTES * 2**20
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
        made: dict[int, tuple[AvroReader, InterpretedReader]] = {}
        while True:
            try:
                number, bodies, thorough = pipe.recv()
            except EOFError:
                return
            if number not in made:
                writer, reader = self._subjects[number].schemas()
                made[number] = AvroReader(writer, reader), InterpretedReader(writer, reader)
            pipe.send([self._answer(index, made[number], body, thorough) for index, body in enumerate(bodies)])

    def _answer(self, index: int, readers: tuple[Any, Any], body: bytes, thorough: bool) -> Answer:  # noqa: FBT001
        _AT.pack_into(self._at, 0, index)
        start = time.thread_time()
        outcome, value = _read(readers[0], body)
        seconds = time.thread_time() - start
        if not thorough:
            return Answer(outcome, seconds)
        text = repr(value)  # tells every type, and takes less than the values themselves
        small = len(text) < LARGE
        answer = told(value) if small else None
        del value
        other, value = _read(readers[1], body)
        return Answer(outcome, seconds, answer, small, (other, repr(value)) == (outcome, text))


def _read(reader: Any, body: bytes) -> tuple[str, Any]:
    try:
        return "CONFORMS", reader.decode(body)
    except ReaderMismatch:
        return MISMATCH, None
    except DecodeError as error:
        return (error.outcome.name if error.outcome else "NO OUTCOME"), None
    except BaseException as problem:  # noqa: BLE001 -- that is what is looked for
        return f"untyped: {type(problem).__name__}: {problem}"[:300], None


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
