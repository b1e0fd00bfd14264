"""Repeated audits of the same topics, each of which reads only what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from contractlog.compatibility.errors import RegistryError, Unreachable
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.report import AuditReport, TopicPart
from contractlog.spark_validation.jobs.sigterm_interruption import interrupt_on_sigterm

__all__ = ["ChangedParts", "repeat_audits"]

MAX_UNPUBLISHED: Final = timedelta(hours=1)  #: after which a part is published even if nothing happened in it


def repeat_audits(
    audit: Callable[[], int],
    every: timedelta,
    *,
    print_line: Callable[[str], None],
    wait: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Audit at regular intervals until interrupted; return the exit code of the last audit.

    An interrupt during the wait ends the repetition; one during an audit abandons that audit, and is raised. A broker
    or registry that does not respond is reported, and tried again at the next interval.

    Args:
        audit: audits once, and returns its exit code.
        every: time from the start of an audit to the start of the next.
        print_line: prints a line for people.
        wait: waits for some seconds.
        clock: returns the time in seconds.
    """
    code = 0
    with interrupt_on_sigterm():
        while True:
            started = clock()
            try:
                code = audit()
            except (Unreachable, RegistryError) as error:
                print_line(escape_line(f"{error}; the next audit tries again"))
            try:
                wait(max(0.0, started + every.total_seconds() - clock()))
            except KeyboardInterrupt:
                return code


class ChangedParts:
    """Selects the parts of reports to publish again, so that the registry's history stays small."""

    def __init__(self) -> None:
        self._published: dict[tuple[str, str], tuple[str, int, datetime]] = {}

    def select(self, report: AuditReport) -> Sequence[TopicPart]:
        """Return parts with another verdict or further violations, and those not published for an hour."""
        now = datetime.fromisoformat(report["audited_at"])
        return [part for part in report["topics"] if self._is_due(part, now)]

    def mark_published(self, report: AuditReport, parts: Sequence[TopicPart]) -> None:
        """Record that parts of a report were published."""
        now = datetime.fromisoformat(report["audited_at"])
        for part in parts:
            self._published[part["topic"], part["part"]] = part["verdict"], part["violating"], now

    def _is_due(self, part: TopicPart, now: datetime) -> bool:
        former = self._published.get((part["topic"], part["part"]))
        if former is None or former[:2] != (part["verdict"], part["violating"]):
            return True
        return now - former[2] >= MAX_UNPUBLISHED
