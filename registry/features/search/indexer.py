"""Background thread that updates the search index from the change log; any node may run it."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from contractlog.compatibility.errors import ContractlogError
from contractlog.compatibility.formats import extract_terms
from contractlog.compatibility.search_terms import Term
from contractlog.contracts.change_log.recorded_change import RecordedChange
from contractlog.registry.execution.background_thread import BackgroundThread
from contractlog.registry.features.change_log.follower import ChangeLogFollower
from contractlog.registry.features.search import queries as search_index
from contractlog.registry.features.search.queries import Key, SchemaWords, SearchableSchema
from contractlog.registry.storage import change_log
from contractlog.registry.storage.store import Store

__all__ = ["SearchIndexer"]

_LOG: Final = logging.getLogger("contractlog.registry.search")
_BATCH_SIZE: Final = 500
_TEXTS_PER_BATCH: Final = 50  #: schemas read into memory at a time
_WORDS_PER_TRANSACTION: Final = 2_000  #: about; other writes wait meanwhile
_FIRST_KEY: Final[Key] = ("", 0)
_MAX_PAUSE: Final = 30.0


class SearchIndexer:
    """Indexes each schema once, on a thread of its own: first existing ones, then those in the change log.

    Args:
        store: its schemas are read.
        follower: signals new changes.
        pause: a random wait up to this many seconds after changes, so that one of many nodes comes first.
        every: seconds between two runs without changes.
    """

    def __init__(self, store: Store, follower: ChangeLogFollower, *, pause: float = 0.3, every: float = 5.0) -> None:
        self._store = store
        self._pause = pause
        self._every = every
        self._thread = BackgroundThread(self._run, "contractlog-indexer")
        store.on_commit(lambda _touched: self._thread.wake())
        follower.on_changes(lambda _changes: self._thread.wake())

    def start(self) -> None:
        """Start; has no effect the second time."""
        self._thread.start()

    def close(self) -> None:
        """Stop; the remaining work is done after the next start."""
        self._thread.close()

    def catch_up(self) -> bool:
        """Index what is due, and return True if there is more.

        Changes that arrive meanwhile wait for the next run, so that small commits are not processed one by one.
        """
        with self._store.open_snapshot() as snapshot:
            done, head = search_index.read_position(snapshot), change_log.newest_sequence(snapshot)
            if done is not None and done >= head:
                return False
            changes = [] if done is None else change_log.list_changes_after(snapshot, done, _BATCH_SIZE)
        if done is None:
            more = True
            self._index_missing()
        else:
            reached = changes[-1].sequence if changes else head
            more = reached < head
            self._index(self._find_changed(changes))
            head = reached
        if not self._thread.is_closing:
            self._store.transact(partial(search_index.advance_position, sequence=head), contexts=()).result()
        return more and not self._thread.is_closing

    def _run(self) -> None:
        retry_pause = 0.0
        while not self._thread.is_closing:
            try:
                while self.catch_up():
                    pass
                retry_pause = 0.0
            except ContractlogError:
                retry_pause = min(max(2 * retry_pause, 1.0), _MAX_PAUSE)
            except Exception:  # noqa: BLE001 - the next run may succeed
                _LOG.exception("the search index could not be kept up; trying again")
                retry_pause = _MAX_PAUSE
            self._thread.wait_for_work(retry_pause or self._every)
            self._thread.pause(retry_pause or random.uniform(0, self._pause))  # noqa: S311 - spreads load, hides nothing

    def _index_missing(self) -> None:
        """Index all schemas that are not indexed."""
        after = _FIRST_KEY
        while not self._thread.is_closing:
            with self._store.open_snapshot() as snapshot:
                keys = search_index.list_unindexed(snapshot, after, _BATCH_SIZE)
            if not keys:
                return
            self._index(keys)
            after = keys[-1]

    def _find_changed(self, changes: Sequence[RecordedChange]) -> set[Key]:
        """Return the schemas that changes concern."""
        keys: set[Key] = set()
        versions_without_id = []
        for change in changes:
            version = change_log.parse_version_target(change)
            if version is None:
                continue
            if "id" in change.facts:
                keys.add((version[0].context, int(change.facts["id"])))
            else:
                versions_without_id.append(version)
        with self._store.open_snapshot() as snapshot:
            ids_by_version = change_log.find_schema_ids(snapshot, versions_without_id)
        return keys | {(subject.context, schema_id) for (subject, _), schema_id in ids_by_version.items()}

    def _index(self, keys: Iterable[Key]) -> None:
        sorted_keys = sorted(keys)
        for start in range(0, len(sorted_keys), _TEXTS_PER_BATCH):
            with self._store.open_snapshot() as snapshot:
                texts = search_index.read_schemas(snapshot, sorted_keys[start : start + _TEXTS_PER_BATCH])
            for portion in _split_portions(texts):
                if self._thread.is_closing:
                    return
                self._store.transact(partial(search_index.store_words, words=portion), contexts=()).result()


def _split_portions(texts: Iterable[SearchableSchema]) -> Iterator[list[SchemaWords]]:
    """Yield the words of schemas, in portions for one short transaction each."""
    portion: list[SchemaWords] = []
    count = 0
    for text in texts:
        for words in _split_words(text.key, list(extract_terms(text.type, text.text, text.metadata))):
            portion.append(words)
            count += len(words.terms) + 1
            if count >= _WORDS_PER_TRANSACTION:
                yield portion
                portion, count = [], 0
    if portion:
        yield portion


def _split_words(key: Key, terms: Sequence[Term]) -> Iterator[SchemaWords]:
    for start in range(0, len(terms) or 1, _WORDS_PER_TRANSACTION):
        end = start + _WORDS_PER_TRANSACTION
        yield SchemaWords(key, start + 1, terms[start:end], are_last=end >= len(terms))
