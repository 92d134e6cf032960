"""``endive replay``: an observed history run through the model, model beside reality."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from endive.cli.console import print_json, print_line, stdout
from endive.cli.options import AsJson, Overrides
from endive.cli.progress import counted_progress
from endive.cli.tables import new_table

if TYPE_CHECKING:
    from endive.observation.replay.figures import Figure
    from endive.observation.replay.replay import Replay

_WORDS = {  # holds, is unclear
    (True, False): "[green]agrees[/green]",
    (False, True): "[yellow]too few to tell[/yellow]",
    (False, False): "[bold red]differs[/bold red]",
}


def replay(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that 'endive observe' has filled.")],
    profile: Annotated[
        str | None, typer.Option(metavar="FILE", help="Storage profile, as 'endive measure store' writes it.")
    ] = None,
    catalog_profile: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Catalog profile, as 'endive measure catalog' writes it.")
    ] = None,
    assumed: Annotated[
        list[str] | None,
        typer.Option("--assume", metavar="KEY=VALUE", help="Replace what 'endive observe' had to assume; repeatable."),
    ] = None,
    scale: Annotated[float, typer.Option(metavar="FACTOR", help="So many times the writers.")] = 1.0,
    overrides: Overrides = None,
    seeds: Annotated[int, typer.Option(min=2, max=1000, help="Runs of the model.")] = 20,
    is_fitted: Annotated[
        bool, typer.Option("--fit", help="Fit the store's latency to the commits seen, if nobody measured it.")
    ] = False,
    forgets: Annotated[
        bool, typer.Option("--forget", help="First forget profiles and assumptions of earlier replays.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run an observed history through the model: does it explain what was seen, and what would happen if?

    The folder remembers what is given here, and the verdict; run, limit, advise, explain and explore use and repeat it.
    """
    from endive.observation.folder import observed_folders
    from endive.observation.folder_memory import forget, remember
    from endive.observation.replay.replay import replay as replay_table

    replays, rates_off = [], []
    given = [*(assumed or ())]
    given += [f"--profile {Path(profile).name}"] if profile else []
    given += ["--fit"] if is_fitted else []
    given += [f"--catalog-profile {catalog_profile.name}"] if catalog_profile else []
    for each in observed_folders(folder):
        if forgets:
            forget(each)
        with counted_progress("replaying") as progress:
            replays.append(
                replay_table(
                    each,
                    profile=profile,
                    catalog_profile=catalog_profile,
                    assumed=assumed or (),
                    scale=scale,
                    overrides=overrides or (),
                    seeds=seeds,
                    is_fitted=is_fitted,
                    progress=progress,
                )
            )
        rates_off.append(remember(each, replays[-1].document, replays[-1].memory, given))
    if as_json:
        print_json({"tables": [replay_dict(each) for each in replays]})
        return
    for replayed, off in zip(replays, rates_off, strict=True):
        _print(replayed)
        if off:
            print_line(f"As a configuration, with the sources' own clocks: {off}")


def replay_dict(replay: Replay) -> dict[str, Any]:
    """Return a replay as a JSON object."""
    return {
        "table": replay.table,
        "verdict": replay.verdict,
        "explains": replay.explains,
        "runs": replay.runs,
        "sources": {
            name: [{**asdict(figure), "holds": figure.holds, "unclear": figure.is_unclear} for figure in figures]
            for name, figures in replay.sources.items()
        },
    }


def _print(replay: Replay) -> None:
    console = stdout()
    title = f"{replay.table}: {replay.runs} runs of the model beside what was seen (95 % intervals)"
    changed = (">changed",) if replay.is_changed else ()
    table = new_table(title, "source", "figure", ">seen", ">model", *changed, "")
    for name, figure in replay.figures:
        table.add_row(escape(name), escape(f"{figure.name} ({figure.unit})"), *_cells(figure, replay.is_changed))
    console.print(table)
    silent = [name for name, figures in replay.sources.items() if not figures]
    if silent:
        print_line(f"too few commits to compare: {', '.join(silent)}")
    print_line(replay.verdict)


def _cells(figure: Figure, is_changed: bool) -> list[str]:
    cells = [_text(figure.real, figure.real_interval), _text(figure.model, figure.model_interval)]
    if is_changed:
        known = figure.changed is not None and figure.changed_interval is not None
        cells.append(_text(figure.changed, figure.changed_interval) if known else "-")
    return [*cells, _WORDS[figure.holds, figure.is_unclear]]


def _text(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return "-"
    return f"{_number(value)} ({_number(interval[0])} to {_number(interval[1])})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
