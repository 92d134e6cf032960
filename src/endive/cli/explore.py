"""``endive explore``: a live page on this machine, to move a configuration's keys and see what happens.

The server lives in ``endive.explore``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from endive.cli.console import print_note
from endive.errors import OutputError

NEEDED: Final = ("starlette", "uvicorn", "vl_convert")


def explore(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Configuration or study file; without one, choose on the page."),
    ] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port, instead of a free one.")] = None,
    is_opened: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
) -> None:
    """Serve a live page on this machine: move a key, and see success, latency and the curve change.

    The printed address holds a token; only that address is answered, and only from this machine. Ctrl-C ends it.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise OutputError(f"endive explore needs {', '.join(missing)}. Install it: pip install 'endive[explore]'")
    from endive.explore.serve import serve
    from endive.explore.starting_points import Starts, all_starts, is_study_folder

    if config is not None:
        if is_study_folder(config):
            raise OutputError(f"{config} is a finished study. Draw it with: endive report {config}")
        print_note(config)
    serve(Starts(all_starts(config)), port=port, is_opened=is_opened, tell=_tell)


def _tell(address: str) -> None:
    typer.echo(f"The page is at {address}")
    typer.echo("It answers this machine only. Ctrl-C ends it.", err=True)
