"""Search for words in the latest live versions."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from contractlog.compatibility.errors import InvalidQuery
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.features.search import queries
from contractlog.registry.features.search.queries import SearchHit, SearchPosition, SearchWord, read_position
from contractlog.registry.storage import change_log
from contractlog.registry.storage.snapshot import Snapshot

__all__ = ["MAX_HITS", "SearchPage", "SearchService"]

MAX_HITS: Final = 1_000  #: per response
_MAX_NUMBER: Final = 2**62


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of hits."""

    hits: Sequence[SearchHit]
    next_position: str | None  #: position of the next page; None if there is none
    indexed_to: int  #: the last change whose schemas are all indexed
    head: int


class SearchService(ReadService):
    """Searches the index that a ``SearchIndexer`` maintains."""

    async def find(
        self, search_words: Sequence[SearchWord], *, prefix: bool, context: str | None, after: str, limit: int
    ) -> SearchPage:
        """List the matches of the first word, in schemas that match the other words too.

        Raises:
            InvalidQuery: there is no word, or ``after`` is not from an earlier response.
        """
        if not search_words:
            raise InvalidQuery(
                parameter="field", detail="at least one of `field`, `type`, `tag` and `property` is required"
            )
        position = _decode_position(after)

        def query(snapshot: Snapshot) -> SearchPage:
            indexed_to = read_position(snapshot) or 0  # read first: the hits are at least as new
            hits = queries.find_hits(
                snapshot, search_words, prefix=prefix, context=context, after=position, limit=limit + 1
            )
            next_position = _encode_position(hits[limit - 1].position) if len(hits) > limit else None
            return SearchPage(hits[:limit], next_position, indexed_to, change_log.newest_sequence(snapshot))

        return await self._query(query)


def _encode_position(position: SearchPosition) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(position)).decode()


def _decode_position(text: str) -> SearchPosition | None:
    if not text:
        return None
    try:
        position = msgspec.msgpack.decode(base64.b64decode(text, altchars=b"-_", validate=True), type=SearchPosition)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        position = None
    if position is None or "\0" in position.context or max(map(abs, position[2:])) > _MAX_NUMBER:
        raise InvalidQuery(parameter="after", detail="it must be the `next` of an earlier response")
    return position
