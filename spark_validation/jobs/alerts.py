"""Alerts about changed verdicts, which are part of an audit's results until they are delivered.

An alert is written with the results that it is about, and removed when its command and webhook have succeeded. So none
is lost if the process is killed or the receiver is away: the next audit of the folder delivers it. An alert can arrive
twice, if the process is killed between the delivery and its record; then it has the same ``id``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.changes import compare_reports, verdict_changes
from contractlog.contracts.audit.report import AuditReport, PartChange
from contractlog.spark_validation.jobs.result_folder import ALERTS
from contractlog.spark_validation.report.change_sentences import describe_change

__all__ = ["Alert", "add_alert", "read_alerts", "remove_alert"]

FORMAT: Final = "contractlog.alert/1"
MAX_PENDING: Final = 100  #: alerts; the oldest are dropped
MAX_PARTS: Final = 1_000  #: of an alert
MAX_BYTES: Final = 64 * 2**20
_NAMED: Final = 5  #: parts in the text
_ID: Final = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Alert:
    """Verdicts that have changed since the former audit."""

    id: str  #: equal for the same alert, if it is delivered again
    body: Mapping[str, Any]  #: as it is sent

    @property
    def text(self) -> str:
        """The alert in words."""
        return str(self.body["text"])


def add_alert(
    report: AuditReport,
    former: AuditReport | None,
    former_folder: Path,
    folder: Path,
    *,
    print_line: Callable[[str], None],
) -> None:
    """Write pending alerts of the former audit, and the alert of a report, into its new folder.

    Args:
        report: the new report.
        former: the former report of the folder; without one, failing and degraded parts are new.
        former_folder: the folder with the former results.
        folder: the folder with the new results.
        print_line: is called with a sentence if the pending alerts cannot be read.
    """
    alerts = read_alerts(former_folder, print_line=print_line)
    parts = verdict_changes(compare_reports(former or {**report, "topics": []}, report))
    if parts:
        alerts.append(_make_alert(report, None if former is None else former["audited_at"], parts))
    _write_alerts(alerts[-MAX_PENDING:], folder)


def read_alerts(folder: Path, *, print_line: Callable[[str], None] | None = None) -> list[Alert]:
    """Return the pending alerts of a folder, oldest first; none if the file is missing or damaged.

    Args:
        folder: the folder of an audit's results.
        print_line: is called with a sentence if the file is damaged.
    """
    try:
        bodies = json.loads(read_bounded_file(folder / ALERTS, MAX_BYTES))
        return [_read_alert(body) for body in bodies[-MAX_PENDING:]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        if print_line is not None:
            path = escape_line(str(folder / ALERTS))
            print_line(f"alerts that were not delivered are lost, as {path} is damaged or unreadable")
        return []


def _read_alert(body: Mapping[str, Any]) -> Alert:
    """Return a stored alert; its id and text are fit for the environment of a command and a header.

    Raises:
        ValueError, TypeError, KeyError: it is not an alert.
    """
    identity = body["id"]
    if not _ID.fullmatch(identity):
        raise ValueError(identity)
    return Alert(identity, {**body, "text": "\n".join(map(escape_line, str(body["text"]).splitlines()))})


def remove_alert(folder: Path, alert: Alert) -> None:
    """Record that an alert was delivered."""
    _write_alerts([each for each in read_alerts(folder) if each.id != alert.id], folder)


def _make_alert(report: AuditReport, since: str | None, parts: Sequence[PartChange]) -> Alert:
    body = {
        "format": FORMAT,
        "audited_at": report["audited_at"],
        "since": since,
        "source": report["source"],
        "text": _describe(parts),
        "parts": list(parts[:MAX_PARTS]),
    }
    identity = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]
    return Alert(identity, {"id": identity, **body})


def _describe(parts: Sequence[PartChange]) -> str:
    lines = [escape_line(f"{change['topic']} {change['part']}: {describe_change(change)}") for change in parts[:_NAMED]]
    more = [f"and {len(parts) - _NAMED:,} more"] if len(parts) > _NAMED else []
    return "\n".join([*lines, *more])


def _write_alerts(alerts: Sequence[Alert], folder: Path) -> None:
    if not alerts:
        (folder / ALERTS).unlink(missing_ok=True)
        return
    with open_atomically(folder / ALERTS) as file:
        file.write(json.dumps([alert.body for alert in alerts]).encode())
