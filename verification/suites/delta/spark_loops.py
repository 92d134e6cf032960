"""Suite ``delta``, closed loops of Delta Spark: writers that append as fast as they can, measured and simulated.

What Delta Spark did was measured by ``verification/delta_rig/spark_loops.py`` and lies in ``data/spark_loops.json``.
Those of delta-rs, which the machine can carry at once, are in ``rs_loops``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from statistics import fmean
from typing import Any, Final

from endive import Simulation
from endive.verification.suite import Check, Options, Outcome, Table, Value, provenance
from verification.suites.delta.delta_recording import SPARK, read
from verification.suites.delta.rs_loops import COMMAND, QUICK_WRITERS, SUITE, Requests, base_of, ended, repeats_table
from verification.suites.load.closed_checks import GROUPS, GROUPS_QUICK, closed_checks
from verification.suites.load.load_model import simulate_closed
from verification.suites.load.measurement import QUANTILES, quantile

PART: Final = "delta spark load"
QUICK_SLOWER: Final = 5.0
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
Closed-loop writers without think time INSERT a row into one table with Delta Spark, through SQL. They are threads of
one JVM, each with a name of its own for the bucket, so that none shares another's log, lock or snapshot. The table lies
on the rig's object server, which creates a commit only if it is absent: Delta's `GCSLogStore` leaves the decision to
the store, and S3A does not send the condition that Google's connector sends, so the server adds it. A request that the
model knows, and the PUT of the data, takes five times what it takes for delta-rs above (a GET or LIST 100 ms, a PUT
150); what S3A asks besides takes nothing, and neither does the checksum file, which it drafts and renames.

The model runs client `spark` with as many clients, each keeping its table. What a request takes is what one of its kind
was measured to take in the same cell, with the client's work until the next, as quantiles; the work before the commit
is the runtime, as quantiles. What follows a commit belongs to its checksum, so a creation takes as long where it wins
as where it loses. Nothing is fitted. Txns count that ended inside the time; latency runs from the first PUT of a commit
to the end of the statement.

Recorded by `python -m verification.delta_rig.spark_loops --jars DIR`.
"""
REMARKS: Final = """
### Reading the loops of Delta Spark

**No INSERT failed**, as ten million attempts promise.

**A missing checksum is contagious.** Delta Spark makes the checksum of a commit from the one before it. Where that is
not there yet, because its writer is still at it, the log is read instead, from the last checkpoint on and as a Spark
job, which takes seconds where the checksum takes a tenth of one; whoever commits meanwhile finds none either. A
statement that begins meanwhile reads the log to load its table. One writer does so for its checkpoints alone (*log read
after the commit*, above, 10 %); of several, most do. More writers therefore commit no more in all than one, and it is
not the race for the commit that holds them up.

The model takes a checksum to be there as soon as its commit is ([what is left out](../model/delta.md#who-fails)), so it
does not know this. It agrees with these loops because it is told: the time that a checksum took in a cell has the
reading in it, and so has the work before a commit. What is judged here is the race: who loses, how often, what a lost
attempt costs, and what rate and latency that makes together with the work. **A load of Delta Spark's that nobody has
measured, with several writers that commit within seconds of each other, is told too well by the model**, by what the
table says its checksums cost.

**One JVM on two cores.** That reading is a Spark job, and jobs are the processors' work (*processors busy*): one writer
leaves three quarters of them idle, from four on they are the limit. The writers are threads of one driver and share its
planner, its code generator and its scheduler, so the work of one waits for that of others and comes in spells; the
model's clients share no processor, and it draws each work by itself. On a larger machine, or with longer delays, the
share of the race would be larger; that was not measured.

**What is wrong, and what is unclear.** Writers that share two cores fall into step: those that read the log together
end together. A txn of four writers begins its commit within half a second of more others than in the model (*company*,
above), so more of them win at once and more lose three times, and fewer make two attempts; with sixteen it is three
times the company. An earlier recording of these cells, kept above, ran with a JVM that had no room left for compiled
code after 54 s; it committed 14 to 36 % less, and its attempts were off by as much. A tenth commit writes a checkpoint
and has the longest checksum; the model draws the two apart, which makes the P95 of one writer too short.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the measurement."""
    document = read(SPARK, "loops")
    cells = [cell for cell in document["cells"] if not options.is_quick or _is_quick(cell)]
    return Outcome(
        suite=SUITE,
        part=PART,
        intro=INTRO,
        checks=tuple(check for cell in cells for check in compare(document, cell, options)),
        tables=(measured_table(document, cells), repeats_table(document, cells)),
        remarks=REMARKS,
        command=COMMAND,
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
    taken = sorted(float(row[7]) for run in cell["runs"] for row in run["txns"])
    work = [[share, round(quantile(taken, share), 1)] for share in QUANTILES]
    return {
        **base_of(document, cell, REQUESTS),
        "delta": {"client": "spark", "initial_version": 1 + cell["writers"]},
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
                f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %",
                round(fmean(company([row[3] for row in run["txns"]]) for run in cell["runs"]), 2),
                round(fmean(_simulated_company(document, cell)), 2),
            )
        )
    headings = (
        *("delays", "writers", "runs", "commits", "commits/s"),
        *("log read to load", "log read after the commit", "processors busy", "company", "company, model"),
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
