"""Eviction of cached schemas by id that another node has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from contractlog.compatibility.identifiers import Subject
from contractlog.contracts.change_log.recorded_change import RecordedChange
from contractlog.registry.features.change_log.follower import ChangeLogFollower
from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache
from contractlog.registry.storage import change_log
from contractlog.registry.storage.name_and_id_lookup import find_shared_ids, list_ids
from contractlog.registry.storage.store import Store

__all__ = ["evict_on_changes"]

_SETTINGS_CHANGED: Final = "settings.changed"  #: may have changed an alias
_REGISTERED: Final = "version.registered"


def evict_on_changes(store: Store, cache: ByteCache, follower: ChangeLogFollower) -> None:
    """Evict cached schemas by id when the change log has changes of them.

    A registration, also by an import, evicts only an id that other versions have, too, because the response names one
    of them. No response of a new id can have been cached before it was registered, and its content never changes.
    """

    def evict(changes: Sequence[RecordedChange]) -> None:
        named = {change: change_log.parse_version_target(change) for change in changes if "id" not in change.facts}
        with store.open_snapshot() as snapshot:
            ids_by_version = change_log.find_schema_ids(
                snapshot, [version for version in named.values() if version is not None]
            )
            renamed = {Subject.parse(change.target) for change in changes if change.action == _SETTINGS_CHANGED}
            keys = {key for subject in renamed if subject.name for key in list_ids(snapshot, subject)}
            registered: set[tuple[str, int]] = set()
            for change in changes:
                version = change_log.parse_version_target(change)
                if version is None:
                    continue
                schema_id = change.facts.get("id") or ids_by_version.get(version)
                if schema_id is None:
                    cache.forget_all()  # a hard-deleted version, and its id was not recorded
                    return
                changed = registered if change.action == _REGISTERED else keys
                changed.add((version[0].context, int(schema_id)))
            keys |= find_shared_ids(snapshot, registered - keys)
        cache.forget(keys)

    follower.on_changes(evict)
