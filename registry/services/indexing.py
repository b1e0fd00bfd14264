"""Indexer of the search index: runs in the background, behind the journal, on any node."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from contractlog.compatibility.errors import ContractlogError
from contractlog.compatibility.terms.extracting import terms
from contractlog.compatibility.terms.words import Term
from contractlog.registry.services.following import Follower
from contractlog.registry.storage import journal, words
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.words import Key, Text

__all__ = ["Indexer"]

_LOG: Final = logging.getLogger("contractlog.registry.indexing")
_READ_AT_ONCE: Final = 500
_TEXTS_AT_ONCE: Final = 50  #: schemas read into memory at a time
_WRITTEN_AT_ONCE: Final = 2_000  #: words per transaction, unless a single schema has more
_FIRST: Final[Key] = ("", 0)
_LONGEST_PAUSE: Final = 30.0


class Indexer:
    """Indexes each schema once, on a thread of its own: first existing ones, then those in the journal.

    Args:
        store: its schemas are read.
        follower: signals new changes.
        pause: a random wait up to this many seconds after changes, so that one of many nodes comes first.
        every: seconds between two runs without changes.
    """

    def __init__(self, store: Store, follower: Follower, *, pause: float = 0.3, every: float = 5.0) -> None:
        self._store = store
        self._pause = pause
        self._every = every
        self._due = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        store.on_commit(lambda _touched: self._due.set())
        follower.on_changes(lambda _changes: self._due.set())

    def start(self) -> None:
        """Start; has no effect the second time."""
        if self._thread is None and not self._closed.is_set():
            self._thread = threading.Thread(target=self._run, name="contractlog-indexer", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop; the remaining work is done after the next start."""
        self._closed.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join()

    def catch_up(self) -> bool:
        """Index what is due, and return True if there is more.

        Changes that arrive meanwhile wait for the next run, so that small commits are not processed one by one.
        """
        with self._store.reading() as snapshot:
            done, head = words.mark(snapshot), journal.head(snapshot)
            if done is not None and done >= head:
                return False
            changes = [] if done is None else journal.following(snapshot, done, _READ_AT_ONCE)
        if done is None:
            more = True
            self._sweep()
        else:
            more = len(changes) == _READ_AT_ONCE
            self._index(self._named(changes))
            head = changes[-1].sequence if changes else head
        if not self._closed.is_set():
            self._store.change(partial(words.advance, sequence=head), contexts=()).result()
        return more and not self._closed.is_set()

    def _run(self) -> None:
        failed = 0.0
        while not self._closed.is_set():
            try:
                while self.catch_up():
                    pass
                failed = 0.0
            except ContractlogError:
                failed = min(max(2 * failed, 1.0), _LONGEST_PAUSE)
            except Exception:  # noqa: BLE001 - the next run may succeed
                _LOG.exception("the search index could not be kept up; trying again")
                failed = _LONGEST_PAUSE
            self._due.wait(failed or self._every)
            self._due.clear()
            self._closed.wait(failed or random.uniform(0, self._pause))  # noqa: S311 - spreads load, hides nothing

    def _sweep(self) -> None:
        """Index all schemas that are not indexed."""
        after = _FIRST
        while not self._closed.is_set():
            with self._store.reading() as snapshot:
                found = words.unread(snapshot, after, _READ_AT_ONCE)
            if not found:
                return
            self._index(found)
            after = found[-1]

    def _named(self, changes: Sequence[journal.Change]) -> set[Key]:
        """Return the schemas that changes concern."""
        keys: set[Key] = set()
        unnamed = []
        for change in changes:
            version = journal.version_of(change)
            if version is None:
                continue
            if "id" in change.facts:
                keys.add((version[0].context, int(change.facts["id"])))
            else:
                unnamed.append(version)
        with self._store.reading() as snapshot:
            held = journal.held_by(snapshot, unnamed)
        return keys | {(subject.context, schema_id) for (subject, _), schema_id in held.items()}

    def _index(self, keys: Iterable[Key]) -> None:
        wanted = sorted(keys)
        for start in range(0, len(wanted), _TEXTS_AT_ONCE):
            with self._store.reading() as snapshot:
                found = words.texts(snapshot, wanted[start : start + _TEXTS_AT_ONCE])
            for portion in _portions(found):
                if self._closed.is_set():
                    return
                self._store.change(partial(words.keep, found=portion), contexts=()).result()


def _portions(texts: Iterable[Text]) -> Iterator[dict[Key, list[Term]]]:
    """Yield the words of schemas, in portions for one short transaction each."""
    portion: dict[Key, list[Term]] = {}
    count = 0
    for one in texts:
        portion[one.key] = list(terms(one.type, one.text, one.metadata))
        count += len(portion[one.key]) + 1
        if count >= _WRITTEN_AT_ONCE:
            yield portion
            portion, count = {}, 0
    if portion:
        yield portion
