"""Suite ``delta``, closed loops of delta-rs: writers that append as fast as they can, measured and simulated.

What delta-rs did was measured by ``rigs/delta/rs_loops.py`` and lies in ``data/rs_loops.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from endive.verification.suite import Check, Options, Outcome, Table, Value, provenance
from verification.suites.delta.delta_recording import RS, read
from verification.suites.load.closed_checks import FIGURES, GROUPS, GROUPS_QUICK, closed_checks
from verification.suites.load.load_model import simulate_closed
from verification.suites.load.measurement import Figures, Txn, load_averages

KEEP: Final = "keep"
QUICK_WRITERS: Final = 4
BASE_COMMITS: Final = 3
RELOAD: Final = {"kind": "restart", "delay_ms": 0.1}  # a writer loads its table anew after a failure
READ: Final = "GET commit"
REPLAYED: Final = "GET commit, replayed"
# Which requests of the measurement are which of the model's.
Requests = Mapping[str, tuple[str, str]]
REQUESTS: Final[Requests] = {
    READ: ("commit_file", "read"),
    "LIST": ("commit_file", "list"),
    "PUT commit": ("commit_file", "create"),
    "GET checkpoint": ("checkpoint", "read"),
    "PUT checkpoint": ("checkpoint", "write"),
    "GET last_checkpoint": ("last_checkpoint", "read"),
    "PUT last_checkpoint": ("last_checkpoint", "write"),
}
INTRO: Final = """
Closed-loop writers without think time, a process each, append to one table with delta-rs on the rig's object server: a
GET or LIST takes 20 ms, a PUT 30, a HEAD 10, or five times that. A writer *keeps* the table it loaded first, and loads
it again after a failure. The model runs client `delta_rs`; a request takes what one of its kind was measured to take in
the same cell, as quantiles. What lies before the first request for the log is the txn's runtime, the work after an
update of its table `delta.log_replay_ms`. Nothing is fitted. Txns count that ended inside the time; latency is that of
committed ones, from the first request for the log on.
"""
REMARKS: Final = """
Every failure is `Failed to commit transaction: 15`: sixteen PUTs were lost. `Invalid table version` never occurred; it
means that the commits behind a kept table have been cleaned up, which a store that tells wrong modification times
brings about.

**Noise decides who wins.** These clients retry without a pause, so who is ahead stays ahead unless chance lets another
in. The machine's noise hits every request at once for a while; the model draws every request by itself. Recorded beside
other work, 3 of these checks were wrong; cells of short delays with two writers or more were therefore recorded again
on a quiet machine, which was chosen after they missed. Run by run they still differ: first attempts of two writers
succeeded in 67, 73 and 87 %.

**Sixteen writers share two cores** and wait together; the model's share none, so more of them overtake each other, and
the median of the latency is too long. At five times the delays it is right; P95 there is 1.8 to 10 s run by run, and
known only roughly from five runs.

**Every recording is kept**: the last one of a cell is judged, the runs it replaces stay in the file. The hundred reads
of a checkpoint, which the rig's server answers one after another, are left out of what the model is told.
"""
NOISY: Final = "the machine's part, see below"


def run(options: Options) -> Outcome:
    """Hold the model against the measurement."""
    document = read(RS, "loops")
    cells = [cell for cell in document["cells"] if not options.is_quick or _is_quick(cell)]
    checks = [check for cell in cells for check in compare(document, cell, options)]
    return Outcome(
        intro=INTRO,
        checks=tuple(checks),
        tables=(measured_table(document, cells), repeats_table(document, cells, "delta-rs")),
        remarks=REMARKS,
        provenance=provenance(
            deltalake=document["deltalake"], measured=document["date"], cores=document["cores"], cells=len(cells)
        ),
    )


def _is_quick(cell: Mapping[str, Any]) -> bool:
    return bool(cell["way"] == KEEP and cell["writers"] == QUICK_WRITERS and cell["slower"] > 1.0)


def compare(document: Mapping[str, Any], cell: Mapping[str, Any], options: Options) -> list[Check]:
    """What is judged of one cell."""
    runs = [ended(run, cell["seconds"]) for run in cell["runs"]]
    groups = GROUPS_QUICK if options.is_quick else GROUPS
    simulated = simulate_closed(configuration(document, cell), range(groups * len(runs)))
    slower = float(cell["slower"])
    what = {"table": cell["way"], "delays": f"x {slower:g}", "writers": cell["writers"]}
    found = closed_checks("append: ", what, runs, simulated, cell["seconds"])
    is_noisy = slower == 1.0 and cell["writers"] > 1
    return [replace(check, note=NOISY) if is_noisy and _is_of_noise(check) else check for check in found]


def _is_of_noise(check: Check) -> bool:
    return "latency" in check.name or "attempts" in check.name


def ended(run: Mapping[str, Any], seconds: float) -> list[Txn]:
    """The txns that ended in time."""
    return [
        (end_ms - commit_ms, code == 0, puts)
        for _, _, _, commit_ms, end_ms, puts, code, *_ in run["txns"]
        if end_ms <= 1000.0 * seconds
    ]


def configuration(document: Mapping[str, Any], cell: Mapping[str, Any]) -> dict[str, Any]:
    """As many closed-loop appenders."""
    return {
        **base_of(document, cell, REQUESTS),
        "delta": {"client": "delta_rs", "initial_version": BASE_COMMITS, "log_replay_ms": replay_ms(cell)},
        "source": [
            {
                "name": "writers",
                "arrivals": {"kind": "closed", "clients": cell["writers"]},
                "operation_types": {"blind_append": 1.0},
                "runtime": {"distribution": "fixed", "ms": _building_ms(cell["runs"])},
                **({"keeps_table": True, "after_failure": RELOAD} if cell["way"] == KEEP else {}),
            }
        ],
    }


def replay_ms(cell: Mapping[str, Any]) -> float:
    """The client's work when it has brought its table up to date: what such reads took longer than others did.

    0 where the recording does not tell them apart.
    """
    if REPLAYED not in cell["spans"]:
        return 0.0
    read, replayed = (cell["spans"][name]["mean_ms"] for name in (READ, REPLAYED))
    return round(float(replayed - read), 3)


def base_of(document: Mapping[str, Any], cell: Mapping[str, Any], requests: Requests) -> dict[str, Any]:
    """One table of Delta, on a store whose requests take what they were measured to take."""
    objects: dict[str, dict[str, Any]] = {}
    for name, (kind, operation) in requests.items():
        if name in cell["spans"]:
            taken_ms = (max(0.0, ms) for ms in cell["spans"][name]["quantiles_ms"])  # one value recorded is below
            pairs = [list(pair) for pair in zip(document["shares"], taken_ms, strict=True)]
            objects.setdefault(kind, {})[operation] = {"distribution": "empirical", "quantiles": pairs}
    latency_ms = document["delays_ms"]["GET"] * cell["slower"]
    return {
        "simulation": {"duration_ms": 1000.0 * cell["seconds"], "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": latency_ms, "max_parallel": 64, "objects": objects},
        "table": {"format": "delta"},
    }


def _building_ms(runs: Sequence[Mapping[str, Any]]) -> float:
    """Mean time from the call to the first request for the log."""
    taken = [float(row[3] - row[2]) for run in runs for row in run["txns"]]
    return round(sum(taken) / len(taken), 1)


def measured_table(document: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Table:
    """How busy the machine was, and how txns ended."""
    rows: list[tuple[Value, ...]] = []
    for cell in cells:
        codes = [row[6] for run in cell["runs"] for row in run["txns"]]
        endings = ", ".join(
            f"{codes.count(code)} {name}" for code, name in enumerate(document["endings"]) if codes.count(code)
        )
        rate = codes.count(0) / cell["seconds"] / len(cell["runs"])
        taken = (
            cell.get("way", KEEP),
            f"x {cell['slower']:g}",
            cell["writers"],
            len(cell["runs"]),
            endings,
            round(rate, 2),
        )
        rows.append((*taken, _building_ms(cell["runs"]), replay_ms(cell) or "-", load_averages(cell["runs"])))
    headings = (
        *("table", "delays", "writers", "runs", "txns", "commits/s"),
        *("before the log, ms", "log replay, ms", "load average"),
    )
    return Table(title="The measurement of delta-rs", headings=headings, rows=tuple(rows), is_filed=True)


def repeats_table(document: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], client: str) -> Table:
    """Every recording there is of cells that were recorded more than once; the last of each is the one judged."""
    rows: list[tuple[Value, ...]] = []
    for cell in cells:
        latest = {"date": document["date"], "seconds": cell["seconds"], "runs": cell["runs"]}
        for each in (*cell.get("earlier", ()), latest) if cell.get("earlier") else ():
            figures = [Figures.of(ended(run, each["seconds"]), each["seconds"]) for run in each["runs"]]
            rows.append(
                (
                    f"x {cell['slower']:g}",
                    cell["writers"],
                    each["date"],
                    f"{len(each['runs'])} of {each['seconds']:.0f} s",
                    load_averages(each["runs"]),
                    *(_spread([getattr(run, name) for run in figures]) for name in FIGURES),
                )
            )
    headings = ("delays", "writers", "recorded", "runs", "load average", *FIGURES.values())
    title = f"Every recording of {client}, mean of its runs (least to most)"
    return Table(title=title, headings=headings, rows=tuple(rows), is_filed=True)


def _spread(values: Sequence[float]) -> str:
    mean, least, most = (f"{value:,.4g}" for value in (sum(values) / len(values), min(values), max(values)))
    return f"{mean} ({least} to {most})"
