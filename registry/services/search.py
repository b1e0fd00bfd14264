"""Search for words in the latest live versions."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from contractlog.compatibility.errors import InvalidQuery
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage import journal, search, words
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.search import After, Hit, Wanted

__all__ = ["MOST_HITS", "Found", "Search"]

MOST_HITS: Final = 1_000  #: per response
_LARGEST_NUMBER: Final = 2**62


@dataclass(frozen=True, slots=True)
class Found:
    """A page of hits."""

    hits: Sequence[Hit]
    following: str | None  #: position of the next page; None if there is none
    indexed_to: int  #: the last change whose schemas are all indexed
    head: int


class Search:
    """Searches the index that an ``Indexer`` maintains."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store = store
        self._threads = threads

    async def find(
        self, wanted: Sequence[Wanted], *, prefix: bool, context: str | None, after: str, limit: int
    ) -> Found:
        """List the matches of the first word, in schemas that match the other words too.

        Raises:
            InvalidQuery: there is no word, or ``after`` is not from an earlier response.
        """
        if not wanted:
            raise InvalidQuery(parameter="field", detail="name at least one of field, type, tag and property")
        return await self._threads.run(
            self._find, wanted, prefix=prefix, context=context, after=_read(after), limit=limit
        )

    def _find(
        self, wanted: Sequence[Wanted], *, prefix: bool, context: str | None, after: After | None, limit: int
    ) -> Found:
        with self._store.reading() as snapshot:
            indexed_to = words.mark(snapshot) or 0  # read first: the hits are at least as new
            hits = search.find(snapshot, wanted, prefix=prefix, context=context, after=after, limit=limit + 1)
            head = journal.head(snapshot)
        following = _written(hits[limit - 1].place) if len(hits) > limit else None
        return Found(hits[:limit], following, indexed_to, head)


def _written(place: After) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(place)).decode()


def _read(text: str) -> After | None:
    if not text:
        return None
    try:
        place = msgspec.msgpack.decode(base64.b64decode(text, altchars=b"-_", validate=True), type=After)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        place = None
    if place is None or "\0" in place.context or max(map(abs, place[2:])) > _LARGEST_NUMBER:
        raise InvalidQuery(parameter="after", detail="it is no `next` of an earlier answer")
    return place
