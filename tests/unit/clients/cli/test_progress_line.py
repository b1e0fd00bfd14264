"""Progress of long work on a terminal and in a log."""

from __future__ import annotations

from io import StringIO

from contractlog.clients.cli.progress_line import ProgressLine


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_says_what_how_much_how_fast_and_how_long_still() -> None:
    times = iter([0.0, 10.0])
    terminal = Terminal()
    progress = ProgressLine("auditing", "offsets", terminal, clock=lambda: next(times))
    progress.start(300_000)
    progress(100_000)
    assert terminal.getvalue().endswith("auditing: 100,000 of 300,000 offsets, 10,000/s, 20 s left")
    progress.finish()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_log_gets_no_line_of_short_work_and_one_in_thirty_seconds_of_long_work() -> None:
    now = [0.0]
    log = StringIO()
    progress = ProgressLine("auditing", "offsets", log, clock=lambda: now[0])
    progress.start(1_000)
    for second in range(100):
        now[0] = second
        progress(second * 10)
    progress.finish()
    assert log.getvalue().splitlines() == [
        "auditing: 300 of 1,000 offsets, 10/s, 1 min 10 s left",
        "auditing: 600 of 1,000 offsets, 10/s, 40 s left",
        "auditing: 900 of 1,000 offsets, 10/s, 10 s left",
    ]


def test_announced_work_says_in_a_log_that_it_begins_and_ends() -> None:
    now = [0.0]
    log = StringIO()
    progress = ProgressLine("finding lineage", "comparisons of two topics", log, clock=lambda: now[0], announced=True)
    progress.start(12)
    now[0] = 4.0
    progress(12)
    progress.finish()
    assert log.getvalue().splitlines() == [
        "finding lineage: 0 of 12 comparisons of two topics",
        "finding lineage: 12 of 12 comparisons of two topics, 3/s",
    ]


def test_a_total_that_is_not_known_in_advance_appears_when_it_is() -> None:
    times = iter([0.0, 10.0, 20.0])
    terminal = Terminal()
    with ProgressLine("reading", "records", terminal, clock=lambda: next(times)) as progress:
        progress(10)
        assert terminal.getvalue().endswith("reading: 10 records, 1/s")
        progress(10, 20)
        assert terminal.getvalue().endswith("reading: 10 of 20 records, 0/s, 20 s left")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_log_gets_no_line_of_work_that_is_shown_on_terminals_only() -> None:
    log = StringIO()
    times = iter([0.0, 100.0, 200.0])
    with ProgressLine("reading", "records", log, clock=lambda: next(times), logged=False, total=2) as progress:
        progress(1)
    assert not log.getvalue()
