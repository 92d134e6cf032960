"""The two streams of the command line: answers on stdout, everything else on stderr.

How an error looks is decided here, and which code the process ends with; errors bring their own words.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
import typer.core
from rich.console import Console
from rich.text import Text

from endive.config.printable import printable
from endive.config.reading.former_names import ConfigNote
from endive.errors import EndiveError

if TYPE_CHECKING:
    from endive.answers.answer import Answer

EXIT_ERROR: Final = 2
EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells report it
EXIT_SIGNAL: Final = 128  # plus the number of the signal
EXIT_BUG: Final = 70  # an error of ours, as sysexits.h has it
# Packages that an extra installs: what is missing is said in one form everywhere.
EXTRAS: Final = {
    "pyspark": "spark",
    "pandas": "spark",
    "vl_convert": "report",
    "starlette": "explore",
    "uvicorn": "explore",
    "pyiceberg": "lake",
    "obstore": "lake",
    "deltalake": "lake",
}
TRACEBACK_VARIABLE: Final = "ENDIVE_TRACEBACK"
_TOLD_CHARACTERS_MAX: Final = 300
_PIPED_COLUMNS: Final = 100


def stdout() -> Console:
    """Return where answers go; wide enough for every table when no terminal says how wide it is."""
    return Console(width=None if sys.stdout.isatty() else _PIPED_COLUMNS, highlight=False)


def stderr() -> Console:
    """Return where progress and errors go."""
    return Console(stderr=True, highlight=False)


def print_json(document: object) -> None:
    """Print one JSON object; a number that is none becomes null."""
    typer.echo(json.dumps(_finite(document), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return value


def show(answer: Answer, *, with_details: bool = False) -> None:
    """Print an answer."""
    from endive.render.terminal import print_answer

    print_answer(stdout(), answer, with_details=with_details)


def print_line(text: object, style: str = "") -> None:
    """Print a line of the answer as it is, never wrapped."""
    stdout().print(Text(str(text), style), soft_wrap=True)


def print_aside(text: str, style: str = "") -> None:
    """Print a line next to the answer."""
    stderr().print(Text(text, style), soft_wrap=True)


def print_error(message: str) -> None:
    """Print each line of the message, never wrapped when piped."""
    console = stderr()
    for line in printable(message).splitlines():
        console.print(Text.assemble(("error: ", "bold red"), line), soft_wrap=True)


def print_note(path: Path) -> None:
    """Print the note of an observed folder; nothing for another configuration."""
    from endive.observation.folder_memory import observed_note

    note = observed_note(path)
    if note is not None:
        print_line(note, "bold")


def with_note(path: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON answer with the note as its first warning."""
    from endive.observation.folder_memory import observed_note

    note = observed_note(path)
    if note is None:
        return dict(document)
    return {**document, "observed": note, "warnings": [note, *document.get("warnings", [])]}


class Terminated(KeyboardInterrupt):  # what it is like, not what went wrong
    """SIGTERM or SIGHUP: the process ends as with Ctrl-C, and leaves what Ctrl-C leaves."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = EXIT_SIGNAL + number


class EndiveGroup(typer.core.TyperGroup):
    """A group whose commands end with a message instead of a traceback, whatever happens."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        _provide_streams()
        try:
            with _answer_signals(), _tell_former_names():
                return super().invoke(ctx)
        except EndiveError as error:
            print_error(str(error))
            raise typer.Exit(EXIT_ERROR) from None
        except KeyboardInterrupt as interrupt:
            raise _exit_for(interrupt) from None
        except ModuleNotFoundError as error:
            if (extra := EXTRAS.get((error.name or "").partition(".")[0])) is None:
                raise
            print_error(f"This needs {error.name}. Install it: pip install 'endive[{extra}]'")
            raise typer.Exit(EXIT_ERROR) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read the answer has read enough
            print_error(f"{error.filename or 'a file'}: {error.strerror or error}. Choose another name or place.")
            raise typer.Exit(EXIT_ERROR) from None
        except Exception as error:
            if type(error).__module__.startswith(("click", "typer")) or os.environ.get(TRACEBACK_VARIABLE):
                raise
            if (behind := _interrupt_behind(error)) is not None:
                raise _exit_for(behind) from None
            print_error(_describe_unexpected(error))
            raise typer.Exit(EXIT_BUG) from None


def _exit_for(interrupt: BaseException) -> typer.Exit:
    stderr().print("interrupted", style="yellow")
    return typer.Exit(getattr(interrupt, "exit_code", EXIT_INTERRUPTED))


def _interrupt_behind(error: BaseException) -> BaseException | None:
    """Return the interrupt that was being answered when this went wrong: py4j trips over its own answer to one."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, KeyboardInterrupt):
        behind = behind.__context__
    return behind


@contextlib.contextmanager
def _tell_former_names() -> Iterator[None]:
    """Say once for each former name that is used what it is called now."""
    told: set[str] = set()

    def tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, ConfigNote):
            before(message, category, *place, **more)
        elif str(message) not in told:
            told.add(str(message))
            print_aside(f"note: {message}", "yellow")

    with warnings.catch_warnings():
        warnings.simplefilter("always", ConfigNote)
        before = warnings.showwarning
        warnings.showwarning = tell
        yield


def _describe_unexpected(error: Exception) -> str:
    """Return what to say of an error that no command expected."""
    if isinstance(error, MemoryError):
        return "There is not enough memory. Make the simulation or the study smaller, or use a larger machine."
    told = " ".join(str(error).split())[:_TOLD_CHARACTERS_MAX]
    return (
        f"{type(error).__name__}: {told}. This is a mistake in Endive, not in what you asked for: please report it, "
        f"with what {TRACEBACK_VARIABLE}=1 shows."
    )


def _provide_streams() -> None:
    """Somewhere to write to, also for a process that was started without, and a mark for what cannot be shown there."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # until the process ends
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")


@contextlib.contextmanager
def _answer_signals() -> Iterator[None]:
    """SIGINT is heard even if the parent ignores it; SIGTERM and SIGHUP end the command as it does.

    A SIGHUP that is ignored stays so: that is what nohup asks for.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(number: int, frame: object) -> None:
        raise Terminated(number)

    wanted: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: terminate}
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        wanted[signal.SIGHUP] = terminate
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
