"""Numbers of schema files in messages; a file may have several subjects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contractlog.clients.cli.output import count_noun
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile

__all__ = ["count_files", "count_part"]


def count_files(files: Iterable[SchemaFile]) -> str:
    """Return ``3 files``, or ``3 files (5 subjects)`` if a file has several."""
    listed = list(files)
    paths, subjects = _sizes(listed)
    more = f" ({count_noun(subjects, 'subject')})" if _has_several_subjects(listed) else ""
    return count_noun(paths, "file") + more


def count_part(part: Iterable[SchemaFile], files: Iterable[SchemaFile], others: int = 0) -> str:
    """Return ``1 of 3 files``, or ``1 of 3 files (2 of 5 subjects)`` if a file has several.

    Args:
        part: some of the files.
        files: all files.
        others: number of further files, whose subjects are not known; all of them belong to the part.
    """
    some, every = list(part), list(files)
    (part_paths, part_subjects), (paths, subjects) = _sizes(some), _sizes(every)
    more = f" ({part_subjects:,} of {count_noun(subjects, 'subject')})" if _has_several_subjects(every) else ""
    return f"{part_paths + others:,} of {count_noun(paths + others, 'file')}{more}"


def _sizes(files: Sequence[SchemaFile]) -> tuple[int, int]:
    return len({file.path for file in files}), len({file.subject for file in files})


def _has_several_subjects(files: Sequence[SchemaFile]) -> bool:
    return len({file.key for file in files}) > len({file.path for file in files})
