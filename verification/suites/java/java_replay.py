"""Suite ``replay``: a table that real writers wrote to is observed, its store measured, its history run by the model.

What the writers left (the table's metadata, Iceberg's commit reports) and the profile of their store were recorded once
(``data/replay.json``); ``--live`` records again, which takes 25 minutes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from endive.observation.folder import write_folder
from endive.observation.logs.commit_reports import join_reports, read_reports
from endive.observation.observe import observe
from endive.observation.replay.figures import Figure
from endive.observation.replay.replay import Replay, replay
from endive.observation.tables.metadata import history_of
from endive.verification.suite import Check, Options, Outcome, Table, Value, provenance
from rigs import live as rigs
from verification.suites.java.request_recording import DATA, line_of

REPLAY_FILE: Final = DATA / "replay.json"
TABLE: Final = "observed"
MERGES: Final = "merges"
APPENDS: Final = "appends"
SEEDS: Final = 40
SEEDS_QUICK: Final = 8
LIVE_SECONDS: Final = 1320.0
LIVE_SECONDS_QUICK: Final = 180.0

INTRO: Final = """
Three writers append to one table under one name, as the tasks of a job do (`FastAppend`, a pause of 12 to 30 s between
two); a fourth merges every 45 s what it read 10 s before (`RowDelta`, snapshot isolation): Java Iceberg, `JdbcCatalog`,
`S3FileIO` on a local S3 that answers after a delay (GET 600, HEAD 300, PUT 900, DELETE 600 ms). Every txn loads the
table anew.

The model is given what a user would have: the table's `metadata.json` and Iceberg's `CommitReport`s (`endive observe`),
a profile of the store measured with another client, obstore, while the writers worked (`endive measure store`), the
latency of the catalog, that appends are fast appends, and the isolation level and working time of the merges, which no
history tells. Then the history is replayed (`endive replay`): every source begins to commit when it did. Limits: 5 % of
a rate, 5 points of a share, 10 % of a duration. *Doubt* is how far the history knows its own figure (95 %), or the
range in which 95 of 100 runs of the model lie, whichever is wider.

Not covered: failed commits, which neither snapshots nor reports tell of; other catalogs; compaction.
`endive verify replay --live` records anew, which takes 25 minutes.
"""

REMARKS: Final = """
The machine was busy with other work. An append that commits at its first attempt has delays of 3.6 s in all, and took
3.87 s (median); the rest is the time of the Java client, which a profile measured with another client does not have, so
the model's P50 is low. P95 of the appends stands at the edge of two clusters: 6 % of the real ones took three attempts
or more, of the model's a little less than 5 %.
"""


def run(options: Options) -> Outcome:
    """Hold the replay of the recording, or of a new run, against what was seen in it."""
    if options.is_live:
        seconds = LIVE_SECONDS_QUICK if options.is_quick else LIVE_SECONDS
        document = rigs.java_replay(options.iceberg_jars, seconds)
    else:
        document = read_recording()
    result = replay_recording(document, SEEDS_QUICK if options.is_quick else SEEDS)
    return Outcome(
        intro=INTRO,
        checks=tuple(check_figure(name, figure) for name, figure in result.figures),
        tables=(_writers(document),),
        remarks=f"The verdict of the command: {result.verdict}\n{'' if options.is_live else REMARKS}",
        provenance=provenance(
            iceberg=document["iceberg"],
            recorded=document["date"],
            machine=document["machine"],
            seconds=document["seconds"],
            load_average=document["load_average"],
        ),
    )


def read_recording(path: Path = REPLAY_FILE) -> dict[str, Any]:
    """What the writers left, as it was recorded."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def replay_recording(document: Mapping[str, Any], seeds: int) -> Replay:
    """Observe, and replay with what was measured."""
    with tempfile.TemporaryDirectory(prefix="endive-replay-") as scratch:
        folder = Path(scratch)
        reports = folder / "reports.jsonl"
        reports.write_text("\n".join(document["reports"]) + "\n", encoding="utf-8")
        profile = folder / "store.toml"
        profile.write_text(document["profile"], encoding="utf-8")
        history = join_reports(history_of(document["metadata"].encode(), TABLE), read_reports(reports))
        table = observe(history)
        (observed,) = write_folder(folder / "seen", [table])
        release = line_of(document["iceberg"])
        assumed = [f"catalog.latency_ms={document['pointer_ms']}", f'commit.release="{release}"']
        for source in table.config["source"]:
            if source["name"] == APPENDS:  # no history tells a FastAppend from a MergeAppend
                assumed.append(f"source.{source['name']}.operation_types={{fast_append=1.0}}")
            if source["name"] == MERGES:
                assumed.append(f'source.{MERGES}.runtime={{distribution="fixed", ms={document["merge_work_ms"]}}}')
                assumed.append(f"source.{MERGES}.isolation=snapshot")
        return replay(observed, profile=str(profile), assumed=assumed, seeds=seeds)


def check_figure(name: str, figure: Figure) -> Check:
    """A figure of one source as a check; the doubt is that of what was seen, or of the runs."""
    (low, high), (seen_low, seen_high) = figure.model_interval, figure.real_interval
    note = f"seen {seen_low:,.4g} to {seen_high:,.4g}, model {low:,.4g} to {high:,.4g}"
    what: dict[str, Value] = {"source": name}
    towards_model = seen_high - figure.real if figure.model > figure.real else figure.real - seen_low
    doubt = max(towards_model, (high - low) / 2.0)
    if figure.is_relative:
        return Check.relative(
            figure.name,
            what,
            expected=figure.real,
            actual=figure.model,
            allowed=figure.allowed,
            unit=figure.unit,
            note=note,
            doubt=doubt / figure.real if figure.real else 0.0,
        )
    return Check.points(
        figure.name, what, expected=figure.real, actual=figure.model, allowed=figure.allowed, note=note, doubt=doubt
    )


def _writers(document: Mapping[str, Any]) -> Table:
    """What the writers themselves wrote down: also the commits that failed."""
    names = sorted({row[0] for row in document["log"]})
    rows: list[tuple[Value, ...]] = []
    for name in names:
        own = [row for row in document["log"] if row[0] == name]
        rows.append((name, len(own), sum(not row[3] for row in own)))
    return Table(
        title="Commits as the writers saw them", headings=("writer", "commits", "of them failed"), rows=tuple(rows)
    )
