"""Copies of topics in an archive: each range of offsets once, also if a run is killed and repeated."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.sources.archive_folder import ArchiveFolder, Location, name_topic_folder, open_archive
from contractlog.spark_validation.sources.archive_writer import copy_range, list_archived_ranges
from contractlog.spark_validation.sources.records import OffsetRange, count_offsets, subtract_ranges
from contractlog.spark_validation.sources.selection import Selection, plan_selection
from contractlog.spark_validation.sources.source import KafkaSource

__all__ = ["ArchivedTopic", "copy_topics"]

FORMAT: Final = "contractlog.archive/1"
DESCRIPTION: Final = "_topic.json"  #: readers of Parquet skip names that begin with an underscore
_LOCK: Final = ".contractlog-archive.lock"
_MAX_DESCRIPTION_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class ArchivedTopic:
    """The result of copying a topic."""

    topic: str
    offsets: int  #: newly archived
    files: int
    archived_before: int  #: offsets
    lost: tuple[OffsetRange, ...]  #: offsets that the log no longer had


def copy_topics(
    source: KafkaSource, selection: Selection, archive: Location, *, progress: ProgressLine | None = None
) -> Iterator[ArchivedTopic]:
    """Copy what the archive does not have of topics, and yield the result of each.

    Raises:
        UsageError: a topic does not exist, was created again since it was archived, or another process writes to the
        archive.
        Unreachable: the broker does not respond.
    """
    whole = plan_selection(source, selection, span=sys.maxsize)
    topics: dict[str, list[OffsetRange]] = {}
    for offsets in whole:
        topics.setdefault(offsets.topic, []).append(offsets)
    ids = source.topic_ids(list(topics))
    folder = open_archive(archive)
    with _lock_archive(archive):
        archived = {topic: list_archived_ranges(archive, topic) for topic in topics}
        for topic, ranges in topics.items():
            _require_same_topic(folder, topic, ids.get(topic), ranges, archived[topic])
        missing = {topic: subtract_ranges(ranges, archived[topic]) for topic, ranges in topics.items()}
        if progress is not None:
            progress.start(sum(map(count_offsets, missing.values())))
        done = 0
        with source.open([offsets for each in missing.values() for offsets in each]) as reader:
            for topic, ranges in missing.items():
                _describe_topic(folder, topic, ids.get(topic))
                folder.remove_unfinished_files(topic)
                files = 0
                for offsets in ranges:
                    for written in copy_range(archive, offsets, reader.read(offsets)):
                        files += 1
                        done += len(written)
                        if progress is not None:
                            progress(done)
                lost = tuple(_find_lost_ranges(topics[topic], archived[topic]))
                yield ArchivedTopic(topic, count_offsets(ranges), files, count_offsets(archived[topic]), lost)
    if progress is not None:
        progress.finish()


def _find_lost_ranges(ranges: Iterable[OffsetRange], archived: Sequence[OffsetRange]) -> Iterator[OffsetRange]:
    """Yield the offsets after the archived ones that the log no longer had."""
    for offsets in ranges:
        end = max((part.end for part in archived if part.key == offsets.key), default=offsets.start)
        if end < offsets.start:
            yield OffsetRange(*offsets.key, end, offsets.start)


def _require_same_topic(
    archive: ArchiveFolder,
    topic: str,
    topic_id: str | None,
    ranges: Sequence[OffsetRange],
    archived: Sequence[OffsetRange],
) -> None:
    """Check that a topic is the one that was archived.

    Raises:
        UsageError: its id differs, or its offsets went back.
    """
    folder = archive.describe(f"{archive.root}/{name_topic_folder(topic)}")
    former = (_read_description(archive, topic) or {}).get("topic_id")
    ends = {offsets.key: offsets.end for offsets in ranges}
    reason = ""
    if former and topic_id and former != topic_id:
        reason = f"its id is {topic_id}, and that of the archived one is {former}"
    for part in archived:
        if part.key in ends and part.end > ends[part.key]:
            reason = reason or (
                f"partition {part.partition} ends at offset {ends[part.key]:,}, and the archive has {part.end:,}"
            )
    if reason:
        raise UsageError(
            f"the topic `{topic}` is not the one in {folder}: {reason}. It was created again, or is of another "
            f"cluster. Archive it to another folder, or move {folder} away",
            topic=topic,
        )


def _read_description(archive: ArchiveFolder, topic: str) -> Mapping[str, object] | None:
    name = f"{name_topic_folder(topic)}/{DESCRIPTION}"
    where = archive.describe(f"{archive.root}/{name}")
    try:
        content = archive.read_file(name, _MAX_DESCRIPTION_BYTES)
        description = None if content is None else json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{where} cannot be read: {error}") from error
    if content is not None and (not isinstance(description, dict) or description.get("format") != FORMAT):
        raise UsageError(f"{where} is not the description of a topic in an archive")
    return description


def _describe_topic(archive: ArchiveFolder, topic: str, topic_id: str | None) -> None:
    """Write the topic's id into its folder, once it is known."""
    former = _read_description(archive, topic)
    if former is not None and (former.get("topic_id") or topic_id is None):
        return
    staged = archive.stage_file(name_topic_folder(topic), "topic")
    staged.write_bytes(json.dumps({"format": FORMAT, "topic": topic, "topic_id": topic_id}).encode() + b"\n")
    archive.publish_file(staged, f"{name_topic_folder(topic)}/{DESCRIPTION}")


@contextmanager
def _lock_archive(archive: Location) -> Iterator[None]:
    """Exclude other processes from a folder; an object store has no locks."""
    if isinstance(archive, str):
        yield
        return
    try:
        archive.mkdir(parents=True, exist_ok=True)
        lock = os.open(archive / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise UsageError(f"cannot write to {archive}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another process archives to {archive}. Wait until it ends") from None
        yield
    finally:
        os.close(lock)
