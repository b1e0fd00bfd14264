"""Group commit: one thread per process writes, and commits all waiting writes together."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.compatibility.errors import Overloaded, StoreError
from contractlog.registry.storage.database_availability import StoreObserver

__all__ = ["Job", "Writer"]

_MAX_BATCH: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A waiting write, and the future of its outcome."""

    work: Any
    result: Future[Any] = field(default_factory=Future)


class Writer:
    """Runs writes in batches on its own thread.

    Args:
        commit: runs a batch in one transaction and returns one outcome each, in order; an exception as an outcome is
            raised from the future of that write.
        limit: how many writes may wait; more are rejected immediately.
        name: of the thread.
    """

    def __init__(
        self, commit: Callable[[Sequence[Any]], Sequence[Any]], *, limit: int, name: str = "contractlog-writer"
    ) -> None:
        self._commit = commit
        self._name = name
        self._waiting: queue.Queue[Job | None] = queue.Queue(limit)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._closed = False
        self.observer: StoreObserver | None = None

    def submit(self, work: Any) -> Future[Any]:
        """Enqueue a write; the future is done after the commit.

        Raises:
            Overloaded: too many writes wait.
        """
        job = Job(work)
        with self._starting:
            if self._closed:
                raise StoreError(detail="the registry is shutting down")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            try:
                self._waiting.put_nowait(job)
            except queue.Full:
                if self.observer is not None:
                    self.observer.record_rejection()
                raise Overloaded from None
        return job.result

    def close(self) -> None:
        """Commit the waiting writes, and stop."""
        with self._starting:
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._waiting.put(None)
            thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, last = self._gather(first)
            if self.observer is not None:
                self.observer.record_queue(len(batch) + self._waiting.qsize())
            self._send_results(batch)
            if last:
                return

    def _gather(self, first: Job) -> tuple[list[Job], bool]:
        batch: list[Job] = [first]
        while len(batch) < _MAX_BATCH:
            try:
                following = self._waiting.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return batch, True
            batch.append(following)
        return batch, False

    def _send_results(self, batch: Sequence[Job]) -> None:
        jobs = [job for job in batch if job.result.set_running_or_notify_cancel()]
        if not jobs:
            return
        started = time.perf_counter()
        try:
            outcomes: Sequence[Any] = self._commit([job.work for job in jobs])
        except BaseException as error:  # noqa: BLE001 - raised from the future of every write of the batch
            outcomes = [error] * len(jobs)
        if self.observer is not None:
            failed = sum(isinstance(outcome, BaseException) for outcome in outcomes)
            self.observer.record_batch(len(jobs) - failed, failed, time.perf_counter() - started)
            self.observer.record_queue(self._waiting.qsize())
        for job, outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                job.result.set_exception(outcome)
            else:
                job.result.set_result(outcome)
