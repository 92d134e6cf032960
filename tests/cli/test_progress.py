"""The progress bar, on a terminal and elsewhere."""

import io
import time

from rich.console import Console

from endive.cli.progress import progress_text, run_progress


def test_rates_are_per_second_of_the_users_time():
    assert progress_text(simulated_s=1800, duration_s=3600, txns=90_000, elapsed_s=0.5) == (
        "1,800 of 3,600 simulated s, 180,000 txns/s, 3,600 simulated s/s"
    )


def test_without_a_terminal_there_is_nothing_to_report_to():
    with run_progress(1000.0, Console(file=io.StringIO(), force_terminal=False)) as report:
        assert report is None


def test_on_a_terminal_the_bar_shows_simulated_time_and_goes_away(monkeypatch):
    now_s = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now_s)))
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    with run_progress(60_000.0, console) as report:
        assert report is not None
        report(30_000_000, 900)

    assert "simulating" in screen.getvalue()
    assert "30 of 60 simulated s, 900 txns/s, 30 simulated s/s" in screen.getvalue()


def test_reports_that_come_too_fast_to_see_are_not_drawn(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    screen = io.StringIO()
    with run_progress(60_000.0, Console(file=screen, force_terminal=True, width=120)) as report:
        assert report is not None
        report(30_000_000, 900)

    assert "30 of 60" not in screen.getvalue()
