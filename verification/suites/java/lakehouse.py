"""Suite ``replay``, part ``lakehouse``: Spark, PyIceberg and a compaction on one table, and the log of their clients.

What a user has is all the model is given: the table's metadata, the log of every statement, Spark's event log of the
streams. Nobody measured the store: its latency is fitted to the commits that were seen.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from endive.observation.compared_figures import Figure
from endive.observation.metadata import history_of
from endive.observation.observe import observe, with_reports
from endive.observation.observed_folder import write_folder
from endive.observation.replay import Replay, replay
from endive.verification.suite import Check, Options, Outcome, Table, provenance, skipped
from verification.suites.java.java_replay import check_figure
from verification.suites.java.request_recording import DATA
from verification.suites.live import IcebergMissingError, rigs

SUITE: Final = "replay"
PART: Final = "lakehouse"
COMMAND: Final = "endive verify replay"
FILE: Final = DATA / "lakehouse.json"
TABLE: Final = "db.events"
SEEDS: Final = 20
SEEDS_QUICK: Final = 4
LIVE_SECONDS: Final = 300.0
HELD: Final = ("commits", "failed", "commit P95")  # of what is compared, as far as few minutes can tell
RATE: Final = 0.10
SUCCESS_POINTS: Final = 10.0
DURATION: Final = 0.25

INTRO: Final = """
Two streaming queries, a batch INSERT every 15 s, a MERGE with a predicate on the partition every 25 s and
`rewrite_data_files` every 45 s through Spark, and two PyIceberg appenders, on one partitioned table: `JdbcCatalog` on
Postgres, files on a disk. Every statement was logged by its client, with its duration and its exception.

The model is fitted from the table and the logs alone (`endive observe TABLE --reports events --reports log.csv`); the
store's latency is fitted to the commits seen (`endive replay --fit`). It is held to the log: commits per source within
10 %, success within 10 points, P95 within 25 %, and the reasons of failures.

Not covered: medians, because one law of latency for all requests fits the tail of a busy machine or its middle, not
both; partitions that a writer always writes to, where the model chooses them at random: so more MERGEs fail in it than
did.
"""


def run(options: Options) -> Outcome:
    """Hold the replay of the recording, or of a new run, against the log."""
    if options.is_live:
        try:
            document = rigs().lakehouse(options.iceberg_jars, LIVE_SECONDS)
        except IcebergMissingError as error:
            return skipped(SUITE, str(error), part=PART, command=f"{COMMAND} --live")
    else:
        document = read_recording()
    result = replay_recording(document, SEEDS_QUICK if options.is_quick else SEEDS)
    return Outcome(
        suite=SUITE,
        part=PART,
        intro=INTRO,
        checks=tuple(check(name, figure) for name, figure in result.figures if figure.name.startswith(HELD)),
        tables=(_writers(document),),
        remarks=f"The verdict of the command: {result.verdict}\n",
        command=COMMAND + (" --live" if options.is_live else ""),
        provenance=provenance(
            spark=document["spark"],
            iceberg=document["iceberg"],
            recorded=document["date"],
            machine=document["machine"],
            seconds=document["seconds"],
            load_average=document["load_average"],
        ),
    )


def read_recording(path: Path = FILE) -> dict[str, Any]:
    """What the clients left, as it was recorded."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def replay_recording(document: Mapping[str, Any], seeds: int) -> Replay:
    """Observe the table with its logs, and replay."""
    with tempfile.TemporaryDirectory(prefix="endive-lakehouse-") as scratch:
        folder = Path(scratch)
        (folder / "events").write_text(document["events"], encoding="utf-8")
        (folder / "log.csv").write_text(document["log"], encoding="utf-8")
        history = history_of(document["metadata"].encode(), TABLE)
        table = observe(with_reports(history, [folder / "events", folder / "log.csv"]))
        (observed,) = write_folder(folder / "seen", [table])
        return replay(observed, seeds=seeds, is_fitted=True, is_searched=False)


def check(name: str, figure: Figure) -> Check:
    """A figure of one source, within the limits of this part."""
    allowed = SUCCESS_POINTS if not figure.is_relative else RATE if figure.unit == "per hour" else DURATION
    return check_figure(name, replace(figure, allowed=allowed))


def _writers(document: Mapping[str, Any]) -> Table:
    """What the clients themselves wrote down."""
    rows: dict[str, list[str]] = {}
    for row in csv.DictReader(document["log"].splitlines()):
        rows.setdefault(row["writer"], []).append(row["outcome"])
    return Table(
        title="Statements as their clients saw them",
        headings=("client", "statements", "of them failed"),
        rows=tuple((name, len(own), own.count("failed")) for name, own in sorted(rows.items())),
    )
