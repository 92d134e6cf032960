"""However a command ends, it says so in words, and the process ends with the code that fits."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys

import pytest
import typer
from tests.waiting import PATIENCE_S
from typer.testing import CliRunner

from endive.cli.console import EndiveGroup, Terminated, print_json
from endive.errors import OutputError

PROGRAM = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for what it puts in the background
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, under which these tests may run, asks for it to be ignored
import typer
from endive.cli.console import EndiveGroup
app = typer.Typer(cls=EndiveGroup)
@app.command()
def sleep():
    try:
        print("asleep", flush=True)
        time.sleep(3_600)
    finally:
        print("tidied", flush=True)
@app.command()
def show():
    print("a \\u2265 b")
app()
"""


def app_that_raises(error: BaseException) -> typer.Typer:
    app = typer.Typer(cls=EndiveGroup)

    @app.command()
    def fail() -> None:
        raise error

    @app.command()
    def other() -> None: ...

    return app


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (OutputError("Choose another folder."), 2, "error: Choose another folder."),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 70, "There is not enough memory"),
        (OSError(28, "No space left on device"), 2, "error: a file: No space left on device. Choose another"),
        (OSError(36, "File name too long", "x" * 300), 2, f"error: {'x' * 300}: File name too long. Choose another"),
        (ZeroDivisionError("by nought"), 70, "ZeroDivisionError: by nought. This is a mistake in Endive"),
        (RecursionError(), 70, "RecursionError"),
        (OutputError("\ud800 is no name"), 2, "error: \ufffd is no name"),
        (OutputError("a \x1b]0;title\x07"), 2, "error: a \ufffd]0;title\ufffd"),
    ],
)
def test_an_error_is_a_line_and_never_a_traceback(error: BaseException, code: int, told: str) -> None:
    found = CliRunner().invoke(app_that_raises(error), ["fail"])

    assert code == found.exit_code
    assert told in found.stderr
    assert "Traceback" not in found.stderr


def test_what_goes_wrong_while_an_interrupt_is_answered_is_that_interrupt() -> None:
    error = AttributeError("no attribute 'shutdown_socket'")
    error.__context__ = ValueError("in between")
    error.__context__.__context__ = Terminated(signal.SIGTERM)

    answer = CliRunner().invoke(app_that_raises(error), ["fail"])

    assert (128 + signal.SIGTERM, "interrupted\n") == (answer.exit_code, answer.output)


def test_a_mistake_of_ours_shows_its_traceback_when_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDIVE_TRACEBACK", "1")

    found = CliRunner().invoke(app_that_raises(ZeroDivisionError("by nought")), ["fail"])

    assert isinstance(found.exception, ZeroDivisionError)


@pytest.mark.lengthy
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_polite_signal_is_answered_at_once_and_tidies_up_even_if_the_parent_ignores_it(number: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "sleep"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "asleep\n" == process.stdout.readline()

    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert 128 + number == process.returncode
    assert "tidied\n" == out
    assert "interrupted\n" == err


@pytest.mark.lengthy
def test_closed_streams_are_no_reason_for_a_traceback() -> None:
    command = f"{sys.executable} -m endive.cli.main providers >&- 2>/dev/null"

    assert 0 == subprocess.run(["sh", "-c", command], check=False).returncode


@pytest.mark.lengthy
def test_a_terminal_without_unicode_is_no_reason_for_a_traceback() -> None:
    variables = {**os.environ, "PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0", "LC_ALL": "C"}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, "show"],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )

    assert (0, "a ? b\n") == (found.returncode, found.stdout), found.stderr


def test_a_number_that_is_none_is_null_in_json(capsys):
    print_json({"model": math.nan, "rates": [1.5, (math.inf,)], "count": 3})

    assert {"model": None, "rates": [1.5, [None]], "count": 3} == json.loads(capsys.readouterr().out)
