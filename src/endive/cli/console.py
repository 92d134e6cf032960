"""The two streams of the command line: answers on stdout, everything else on stderr.

Owns how an error looks and which code the process ends with. Refuses to own what it says; errors bring
their own words.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import typer
import typer.core
from rich.console import Console
from rich.text import Text

from endive.errors import EndiveError

EXIT_ERROR: Final = 2
EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells report it
_PIPED_COLUMNS: Final = 100


def stdout() -> Console:
    """Where answers go; wide enough for every table when no terminal says how wide it is."""
    return Console(width=None if sys.stdout.isatty() else _PIPED_COLUMNS, highlight=False)


def stderr() -> Console:
    """Where progress and errors go."""
    return Console(stderr=True, highlight=False)


def print_error(message: str) -> None:
    """Each line of the message as a line of its own, never wrapped when piped."""
    console = stderr()
    for line in message.splitlines():
        console.print(Text.assemble(("error: ", "bold red"), line), soft_wrap=True)


class EndiveGroup(typer.core.TyperGroup):
    """A group whose commands end with a message instead of a traceback when the user can mend it."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except EndiveError as error:
            print_error(str(error))
            raise typer.Exit(EXIT_ERROR) from None
        except KeyboardInterrupt:
            stderr().print("interrupted", style="yellow")
            raise typer.Exit(EXIT_INTERRUPTED) from None
