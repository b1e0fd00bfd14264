"""Import of an export into the database of this process while it serves.

It does the same as `contractlog import` does to a database.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from contractlog.compatibility.errors import BadRequest, Overloaded, UsageError
from contractlog.registry.access.permissions import ALL_PERMISSIONS, KeyPermissions
from contractlog.registry.execution.work_limits import current_work
from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.file_format import read_lines, split_lines
from contractlog.registry.transfer.importer import import_contents, plan_import
from contractlog.registry.transfer.registry_contents import RegistryContents
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.transferred_keys import leave_out_keys

__all__ = ["OnlineImport"]


class OnlineImport:
    """Imports exports into a store, one at a time."""

    def __init__(self, store: Store, *, allow_id_gap: bool = False) -> None:
        self._store = store
        self._allow_id_gap = allow_id_gap
        self._turn = threading.Lock()

    def take(
        self,
        file: IO[bytes],
        *,
        actor: str,
        dry_run: bool,
        modes: bool,
        keys: KeyPermissions = ALL_PERMISSIONS.keys,
    ) -> TransferReport:
        """Import a file of ``contractlog export``: everything, or nothing if there are conflicts.

        Args:
            file: read from its beginning.
            actor: in the change log.
            dry_run: report what would be written, and write nothing.
            modes: whether to import modes (READONLY …).
            keys: the KEKs that the caller may write; others are left out, and reported.

        Raises:
            BadRequest: the file is invalid.
            Overloaded: another import is running.
        """
        with self._alone():
            report = TransferReport()
            source = _read_export(file, report)
            if not modes:
                source.modes = {}
            report.count_contents(source)
            leave_out_keys(source, keys, report)
            if dry_run:
                with self._store.open_snapshot() as snapshot:
                    plan_import(snapshot, source, report, _require_caller, allow_id_gap=self._allow_id_gap)
            elif not report.conflicts:
                import_contents(
                    self._store,
                    source,
                    report,
                    actor=actor,
                    report_progress=_require_caller,
                    allow_id_gap=self._allow_id_gap,
                )
            return report

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._turn.acquire(blocking=False):
            raise Overloaded("Another import is running; try again when it is done")
        try:
            yield
        finally:
            self._turn.release()


def _require_caller(_schemas: int) -> None:
    """Raise ``Abandoned`` if the caller has disconnected, which ends the import before it writes."""
    current_work.get().require()


def _read_export(file: IO[bytes], report: TransferReport) -> RegistryContents:
    file.seek(0)
    text = io.TextIOWrapper(file, encoding="utf-8")
    try:
        return read_lines(split_lines(text), report)
    except UsageError as error:
        raise BadRequest(str(error)) from None
    except UnicodeDecodeError:
        raise BadRequest("the file is not UTF-8 text") from None
    finally:
        text.detach()
