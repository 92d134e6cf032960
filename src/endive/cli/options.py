"""Options and arguments that several commands take: declared once, so that they are called and explained alike."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Engine(StrEnum):
    """Which implementation of the same rules runs."""

    AUTO = "auto"
    REFERENCE = "reference"
    COMPILED = "compiled"


class Detail(StrEnum):
    """How much of a run is kept."""

    TRANSACTIONS = "transactions"
    SAMPLE = "sample"
    RUNS = "runs"


ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="Configuration file (TOML).")]
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="Study file (TOML).")]
SweptFolder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder that 'endive sweep --out' has filled.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one key of the configuration; repeatable."),
]
StudyOverrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override one key of the base, or the values of an axis (a list); repeatable.",
    ),
]
ObjectiveToMeet = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="Objective to meet, instead of the configuration's, as in 'success_rate >= 99 %'."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Details = Annotated[bool, typer.Option("--details", help="Show everything that was measured, and every warning.")]
NoCases = Annotated[bool, typer.Option("--no-cases", help="Skip the simulation of inputs that are not set.")]
Assumed = Annotated[
    list[str] | None,
    typer.Option("--assume", metavar="KEY=VALUE", help="Fix an input that the file does not set; repeatable."),
]
EngineChoice = Annotated[Engine, typer.Option(help="Both give the same result; compiled is fast.")]
DetailChoice = Annotated[
    Detail, typer.Option(help="Keep the txns of all runs, of one seed per configuration, or only what was measured.")
]
Seeds = Annotated[int | None, typer.Option(min=1, help="So many seeds, instead of the study's.")]
Slo = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Objective to judge by, instead of the study's, as in 'success_rate >= 99 %'."),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Spark, instead of all cores here: local[N], spark://host:7077, sc://host:15002, k8s://.. or yarn.",
    ),
]
Conf = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A setting of Spark; repeatable.")]
Large = Annotated[bool, typer.Option("--yes", help="Allow a study this large.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the answer and errors: no progress, no notes.")]
