"""Keeping the search index: in the background, behind the journal, by whichever node comes first."""

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
_TEXTS_AT_ONCE: Final = 50  #: schemas that are held in memory
_WRITTEN_AT_ONCE: Final = 2_000  #: words in one transaction, if no single schema has more
_FIRST: Final[Key] = ("", 0)
_LONGEST_PAUSE: Final = 30.0


class Indexer:
    """Looks at every schema once, on a thread of its own: first at all that are there, then at what the journal names.

    Args:
        store: whose schemas are read.
        follower: tells that there is something to do.
        pause: seconds that are waited after news, at random up to this, so that of many nodes one comes first.
        every: seconds between two looks without news.
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
        """Begin; a second time changes nothing."""
        if self._thread is None and not self._closed.is_set():
            self._thread = threading.Thread(target=self._run, name="contractlog-indexer", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop; what is not done yet is done after the next start."""
        self._closed.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join()

    def catch_up(self) -> bool:
        """Look at what is due, and return whether more was due already.

        What comes meanwhile waits for the next look, so that many small commits are not followed one by one.
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
            except Exception:  # noqa: BLE001 - the next look may succeed
                _LOG.exception("the search index could not be kept up; trying again")
                failed = _LONGEST_PAUSE
            self._due.wait(failed or self._every)
            self._due.clear()
            self._closed.wait(failed or random.uniform(0, self._pause))  # noqa: S311 - spreads load, hides nothing

    def _sweep(self) -> None:
        """Look at all schemas that nobody looked at."""
        after = _FIRST
        while not self._closed.is_set():
            with self._store.reading() as snapshot:
                found = words.unread(snapshot, after, _READ_AT_ONCE)
            if not found:
                return
            self._index(found)
            after = found[-1]

    def _named(self, changes: Sequence[journal.Change]) -> set[Key]:
        """Return the schemas that changes are about."""
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
    """Yield the words of schemas, about as many at once as one short transaction writes."""
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
