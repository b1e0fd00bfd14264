"""Repeated audits keep their interval, survive what is away for a while, and publish what is worth it."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime, timedelta

import pytest

from contractlog.clients.cli.main import main
from contractlog.compatibility.errors import Overloaded, Unreachable, UsageError
from contractlog.contracts.audit.report import AuditReport
from contractlog.spark_validation.jobs.follow import MAX_UNPUBLISHED, ChangedParts, repeat_audits

from support.reports import part, report, violation

START = datetime(2026, 11, 21, 8, tzinfo=UTC)


class Clock:
    """Seconds, which pass when something waits for them; the waits after the last one are interrupted."""

    def __init__(self, waits: int) -> None:
        self.seconds = 0.0
        self.waits: list[float] = []
        self._left = waits

    def __call__(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        if len(self.waits) == self._left:
            raise KeyboardInterrupt
        self.waits.append(seconds)
        self.seconds += seconds


def test_audits_begin_at_regular_intervals_and_a_long_one_is_followed_at_once() -> None:
    clock, begun = Clock(3), []
    lengths = iter([10.0, 400.0, 20.0, 0.0])

    def audit() -> int:
        begun.append(clock.seconds)
        clock.seconds += next(lengths)
        return len(begun) % 2

    code = repeat_audits(audit, timedelta(minutes=5), print_line=print, wait=clock.wait, clock=clock)
    assert begun == [0.0, 300.0, 700.0, 1000.0]
    assert clock.waits == [290.0, 0.0, 280.0]
    assert code == 0  # of the last audit


@pytest.mark.parametrize(
    "error", [Unreachable("the broker does not respond"), Overloaded(detail="the queue of writes is full")]
)
def test_what_does_not_respond_is_told_and_tried_again(error: Exception) -> None:
    clock, told = Clock(2), []
    outcomes = iter([error, error, 1])

    def audit() -> int:
        outcome = next(outcomes)
        if isinstance(outcome, int):
            return outcome
        raise outcome

    assert repeat_audits(audit, timedelta(minutes=1), print_line=told.append, wait=clock.wait, clock=clock) == 1
    assert told == [f"{error}; the next audit tries again"] * 2


def test_other_errors_and_interrupts_during_an_audit_end_the_repetition() -> None:
    for error in (UsageError("no topic matches"), KeyboardInterrupt()):

        def audit(error: BaseException = error) -> int:
            raise error

        with pytest.raises(type(error)):
            repeat_audits(audit, timedelta(minutes=1), print_line=print)


def test_sigterm_ends_the_wait_with_the_code_of_the_last_audit() -> None:
    former = signal.getsignal(signal.SIGTERM)
    code = repeat_audits(
        lambda: 1, timedelta(days=1), print_line=print, wait=lambda _: os.kill(os.getpid(), signal.SIGTERM)
    )
    assert code == 1
    assert signal.getsignal(signal.SIGTERM) is former


def test_a_part_is_published_when_something_happened_and_every_hour() -> None:
    changed = ChangedParts()

    def publish(minutes: int, audit: AuditReport) -> list[str]:
        audit["audited_at"] = (START + timedelta(minutes=minutes)).isoformat()
        parts = changed.select(audit)
        changed.mark_published(audit, parts)
        return [each["topic"] for each in parts]

    quiet, bad = part("quiet"), part("bad", violations=[violation("TRUNCATED", 1)])
    worse = part("bad", violations=[violation("TRUNCATED", 9)])
    assert publish(0, report(quiet, bad)) == ["quiet", "bad"]
    assert publish(5, report(quiet, bad)) == []
    assert publish(10, report(quiet, worse)) == ["bad"]
    assert publish(59, report(quiet, worse)) == []
    assert publish(60, report(quiet, worse)) == ["quiet"]
    assert publish(70, report(quiet, worse)) == ["bad"]
    assert timedelta(hours=1) == MAX_UNPUBLISHED


def test_a_part_that_could_not_be_published_is_due_again() -> None:
    changed, audit = ChangedParts(), report(part("t"))
    assert changed.select(audit) == changed.select(audit) == audit["topics"]


CONFLICTS = [
    (["--every", "1m"], "--every needs --follow"),
    (["--follow", "--full"], "--full would read everything again"),
    (["--follow", "--last", "7d"], "--last would read everything again"),
    (["--follow", "--archive", "lake"], "--archive would read everything again"),
    (["--follow", "--lineage"], "contractlog lineage --state DIR"),
    (["--follow", "--format", "json"], "--follow prints text"),
    (["--follow", "--every", "often"], "--every: `often` is not a duration, such as 30s"),
]


@pytest.mark.parametrize(("arguments", "words"), CONFLICTS)
def test_options_that_contradict_each_other_are_usage_errors(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "t", *arguments, "--registry", "http://127.0.0.1:1"]) == 2
    assert words in capsys.readouterr().err
