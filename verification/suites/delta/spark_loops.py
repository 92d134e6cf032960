"""Suite ``delta``, closed loops of Delta Spark: writers that append as fast as they can, measured and simulated.

What Delta Spark did was measured by ``rigs/delta/spark_loops.py`` and lies in ``data/spark_loops.json``.
Those of delta-rs, which the machine can carry at once, are in ``rs_loops``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from statistics import fmean
from typing import Any, Final

from endive import Simulation
from endive.verification.suite import Check, Options, Outcome, Table, Value, provenance
from verification.recordings import QUANTILES
from verification.suites.delta.delta_recording import SPARK, read
from verification.suites.delta.rs_loops import QUICK_WRITERS, Requests, base_of, ended, repeats_table
from verification.suites.load.closed_checks import GROUPS, GROUPS_QUICK, closed_checks
from verification.suites.load.load_model import simulate_closed
from verification.suites.load.measurement import quantile

QUICK_SLOWER: Final = 5.0
LOG: Final = "log"  # the client's work, each time it has read the log as a whole
TOGETHER_MS: Final = 500.0
COMPANY_SEEDS: Final = 20
REQUESTS: Final[Requests] = {
    "GET commit": ("commit_file", "read"),
    "LIST list": ("commit_file", "list"),
    "PUT commit": ("commit_file", "create"),
    "GET crc": ("checksum", "read"),
    "PUT crc_draft": ("checksum", "write"),
    "PUT checkpoint": ("checkpoint", "write"),
    "GET last_checkpoint": ("last_checkpoint", "read"),
    "PUT last_checkpoint": ("last_checkpoint", "write"),
}
INTRO: Final = """
Closed-loop writers without think time INSERT a row into one table with Delta Spark, through SQL: threads of one JVM
that share no log, lock or snapshot. The rig's object server creates a commit only if it is absent, as Delta's
`GCSLogStore` expects; it adds the condition that S3A does not send. A request that the model knows, and the PUT of the
data, takes five times what it takes for delta-rs above; what S3A asks besides takes nothing, nor does the checksum
file.

The model runs client `spark`, each keeping its table. A request takes what one of its kind was measured to take in the
same cell, with the client's work until the next; the work before the commit is the runtime, as quantiles, and what it
works each time it reads the log, on average, `delta.log_replay_ms`. Who misses whose checksum, and so who reads the
log, is the model's. Nothing is fitted. Txns count that ended inside the time; latency runs from the first PUT of a
commit to the end of the statement.

Recorded by `python -m rigs.delta.spark_loops --jars DIR`.
"""
REMARKS: Final = """
**No INSERT failed**, as ten million attempts promise.

**A missing checksum is contagious** ([why](../model/delta.md#the-log)): more writers commit no more in all than one,
in the rig and in the model, since most of their statements read the log. Until model version 10 the model did not know
this, and was told times that had the reading in them.

**Listed twice.** The first model of this had two figures of four writers wrong (P50 +18 %): it did not list the log
again once it had loaded its table, and so lost races to commits that Delta Spark knows of. That was added after this
recording was seen; Delta Spark was asked whether it does so, and does.

A tenth commit writes a checkpoint and has the longest checksum; the model draws the two apart, so the P95 of one writer
is too short. From eight writers on the work in front of a commit, measured, has waits for the others in it.

**One JVM on two cores.** A pass over the log works for 0.3 s where up to four writers share the machine, 0.75 s with
eight and 3.3 s with sixteen, which wait for each other's work; the model is told how long, and has each wait for its
own alone. An earlier recording, in the file, ran with a JVM that had no room left for compiled code after 54 s.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the measurement."""
    document = read(SPARK, "loops")
    cells = [cell for cell in document["cells"] if not options.is_quick or _is_quick(cell)]
    return Outcome(
        intro=INTRO,
        checks=tuple(check for cell in cells for check in compare(document, cell, options)),
        tables=(measured_table(document, cells), repeats_table(document, cells, "Delta Spark")),
        remarks=REMARKS,
        provenance=provenance(
            delta=document["delta"],
            spark=document["spark"],
            measured=document["date"],
            cores=document["cores"],
            cells=len(cells),
        ),
    )


def _is_quick(cell: Mapping[str, Any]) -> bool:
    return bool(cell["slower"] == QUICK_SLOWER and cell["writers"] == QUICK_WRITERS)


def compare(document: Mapping[str, Any], cell: Mapping[str, Any], options: Options) -> list[Check]:
    """What is judged of one cell."""
    runs = [ended(run, cell["seconds"]) for run in cell["runs"]]
    groups = GROUPS_QUICK if options.is_quick else GROUPS
    simulated = simulate_closed(configuration(document, cell), range(groups * len(runs)))
    what = {"delays": f"x {cell['slower']:g}", "writers": cell["writers"]}
    return closed_checks("INSERT: ", what, runs, simulated, cell["seconds"])


def configuration(document: Mapping[str, Any], cell: Mapping[str, Any]) -> dict[str, Any]:
    """As many closed-loop appenders, each of which has inserted once before."""
    taken = sorted(max(0.0, float(row[7])) for run in cell["runs"] for row in run["txns"])
    work = [[share, round(quantile(taken, share), 1)] for share in QUANTILES]
    return {
        **base_of(document, cell, REQUESTS),
        "delta": {
            "client": "spark",
            "initial_version": 1 + cell["writers"],
            "log_replay_ms": round(cell["spans"][LOG]["mean_ms"], 1),
        },
        "source": [
            {
                "name": "writers",
                "arrivals": {"kind": "closed", "clients": cell["writers"]},
                "operation_types": {"blind_append": 1.0},
                "runtime": {"distribution": "empirical", "quantiles": work},
                "keeps_table": True,
            }
        ],
    }


def measured_table(document: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Table:
    """How busy the machine was, how often the whole log was read, and whether commits began together."""
    rows: list[tuple[Value, ...]] = []
    for cell in cells:
        txns = [row for run in cell["runs"] for row in run["txns"]]
        shares = [run["cpu_share"] for run in cell["runs"]]
        in_time = sum(len(ended(run, cell["seconds"])) for run in cell["runs"])
        rows.append(
            (
                f"x {cell['slower']:g}",
                cell["writers"],
                len(cell["runs"]),
                in_time,
                round(in_time / cell["seconds"] / len(cell["runs"]), 3),
                _percent(txns, 8),
                _percent(txns, 9),
                round(cell["spans"][LOG]["mean_ms"]),
                f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %",
                round(fmean(company([row[3] for row in run["txns"]]) for run in cell["runs"]), 2),
                round(fmean(_simulated_company(document, cell)), 2),
            )
        )
    headings = (
        *("delays", "writers", "runs", "commits", "commits/s"),
        *("log read to load", "log read after the commit", "work to read it, ms"),
        *("processors busy", "company", "company, model"),
    )
    return Table(title="The measurement of Delta Spark", headings=headings, rows=tuple(rows))


def company(starts_ms: Sequence[float]) -> float:
    """How many other commits begin within ``TOGETHER_MS`` of one, on average."""
    return sum(abs(one - other) <= TOGETHER_MS for one, other in permutations(starts_ms, 2)) / len(starts_ms)


def _simulated_company(document: Mapping[str, Any], cell: Mapping[str, Any]) -> list[float]:
    simulation = Simulation(configuration(document, cell))
    runs = (simulation.run(seed=seed).transactions for seed in range(COMPANY_SEEDS))
    return [company(txns["commit_start_ms"].drop_null().to_pylist()) for txns in runs]


def _percent(txns: Sequence[Sequence[Any]], place: int) -> str:
    return f"{100 * sum(row[place] > 0 for row in txns) / len(txns):.0f} %"
