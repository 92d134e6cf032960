"""Suite ``requests``, loops of DELETE: how many commit on a v2 table, and how many where a data file has one vector.

The cells live in ``loops``, the recorder in ``rigs/java/loop_stage``; the model is told what requests took
in each measured run, as for the other loops (``java_loops``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from endive.verification.suite import Check, Options, Outcome, Table, Value, provenance
from verification.suites.load import java_loops, load_model
from verification.suites.load.closed_checks import GROUPS, GROUPS_QUICK
from verification.suites.load.loops import DATA_FILES, DELETE, TOUCHED, Loop, delete_loops
from verification.suites.load.measurement import DELETES_FILE, TxnRuns, load_averages, read_load
from verification.suites.sampling import doubt, share_error_percent, standard_error

ALLOWED_POINTS: Final = 10.0  # as the requirement says that asked for them
INTRO: Final = """
Three writers in a loop, as Spark's merge-on-read DELETE commits: each loads the table, works for 0.3 s, deletes rows of
4 of its 20 data files, drawn anew each time, and commits; nobody adds rows. On v2 only retries run out. On v3 a data
file has one deletion vector, and who adds one beside another since its scan fails for good ("Found concurrently added
DV"). A row is right if the share that commits is within 10 points. Old vectors stay in the table, where Spark takes
them out: that costs a read and a write of a manifest and fails nobody.

Recorded by `python -m rigs.record java-loops --only ^delete`.
"""

Runs = Sequence[Sequence[bool]]  # whether each txn committed, run by run


def run(options: Options) -> Outcome:
    """Hold the model against the measurement."""
    document = read_load(DELETES_FILE)
    groups = GROUPS_QUICK if options.is_quick else GROUPS
    played = [(loop, *play(document, loop, groups)) for loop in delete_loops()]
    return Outcome(
        intro=INTRO,
        checks=tuple(compare(*each) for each in played),
        tables=(_table(document, played),),
        provenance=provenance(iceberg=document["iceberg"], measured=document["date"], machine=document["machine"]),
    )


def play(document: Mapping[str, Any], loop: Loop, groups: int) -> tuple[Runs, Runs]:
    """Which txns committed, measured and in the model."""
    runs = document["loops"][loop.key]
    configs = [configuration(document, loop, place) for place in range(len(runs))]
    simulated = load_model.simulate(configs, range(groups * len(runs)), [DELETE])[DELETE]
    real = [java_loops.ended(run, loop, DELETE) for run in runs]
    return _committed(real), _committed(simulated)


def configuration(document: Mapping[str, Any], loop: Loop, place: int) -> dict[str, Any]:
    """One run in the model's words, with what requests took in it."""
    config = java_loops.configuration(document, loop, place)
    config["table"] |= {"data_files": DATA_FILES, "format_version": loop.format_version}
    deleting = {"checks": "added_rows", "adds_rows": False, "read": "files", "touched_files": TOUCHED}
    config["source"][0] |= deleting
    return config


def _committed(runs: TxnRuns) -> Runs:
    return [[is_committed for _, is_committed, _ in run] for run in runs]


def compare(loop: Loop, real: Runs, simulated: Runs) -> Check:
    """The share that commits."""
    txns = [each for run in real for each in run]
    shares = [_percent([run]) for run in simulated]
    by_run = standard_error([_percent([run]) for run in real]) / len(real) ** 0.5
    error = max(share_error_percent(sum(txns), len(txns)), by_run)
    what: dict[str, Value] = {"version": loop.format_version, "writers": loop.writers, "txns": len(txns)}
    return Check.points(
        "delete loop: commits",
        what,
        expected=_percent(real),
        actual=_percent(simulated),
        allowed=ALLOWED_POINTS,
        doubt=doubt(error, standard_error(shares) / len(shares) ** 0.5),
    )


def _percent(runs: Runs) -> float:
    txns = [each for run in runs for each in run]
    return 100.0 * sum(txns) / len(txns) if txns else float("nan")


def _table(document: Mapping[str, Any], played: Sequence[tuple[Loop, Runs, Runs]]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for loop, real, simulated in played:
        runs = document["loops"][loop.key]
        seconds = [runs[0]["duration_s"] * len(each) for each in (real, simulated)]
        rates = [sum(map(sum, each)) / s for each, s in zip((real, simulated), seconds, strict=True)]
        counts = f"{sum(map(sum, real))} of {sum(map(len, real))}"
        shares = [f"{_percent(each):.1f}" for each in (real, simulated)]
        rows.append(
            (
                f"v{loop.format_version}",
                len(runs),
                counts,
                *shares,
                *(f"{rate:.2f}" for rate in rates),
                load_averages(runs),
            )
        )
    headings = ("table", "runs", "committed", "%", "model, %", "1/s", "model, 1/s", "load average")
    return Table(title="Three loops of DELETE", headings=headings, rows=tuple(rows))
