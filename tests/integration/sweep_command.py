"""``endive sweep`` as a program: ``python -m tests.integration.sweep_command sweep ..``."""

from __future__ import annotations

import typer

from endive.cli.console import EndiveGroup
from endive.cli.sweep import sweep

app = typer.Typer(cls=EndiveGroup, add_completion=False, pretty_exceptions_enable=False)
app.command("sweep")(sweep)


@app.callback()
def main() -> None:
    """Keeps ``sweep`` a command of its own."""


if __name__ == "__main__":
    app()
