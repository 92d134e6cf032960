"""Suite ``load``, closed loops of Java Iceberg: row deltas, compactions, a mix, kept tables and the REST catalog.

The cells live in ``loops``, what is judged in ``closed_checks``; what Iceberg did was measured once and lies in
``data/loops.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from endive.verification.suite import Check, Options, Outcome, Table, Value, provenance
from rigs import live as rigs
from verification.suites.java.request_recording import line_of
from verification.suites.load import load_model
from verification.suites.load.cells import BASE_SNAPSHOTS
from verification.suites.load.closed_checks import GROUPS, GROUPS_QUICK, closed_checks, shown
from verification.suites.load.loops import (
    APPEND,
    COMPACTION,
    DELETE,
    FREE,
    GATHER,
    GATHER_EVERY_S,
    KEEP,
    MIX,
    ROW_DELTA,
    Loop,
    all_loops,
)
from verification.suites.load.measurement import (
    LOOPS_FILE,
    ORDERED_FILE,
    Figures,
    Txn,
    latencies,
    load_averages,
    pooled_quantiles,
    read_load,
    statement_ms,
)

LIVE: Final = (15.0, 4)  # seconds of a run, and how many
LIVE_QUICK: Final = (5.0, 2)
KINDS: Final = {
    APPEND: "fast_append",
    ROW_DELTA: "validated_overwrite",
    COMPACTION: "rewrite_files",
    DELETE: "validated_overwrite",
}
FIRST_MANIFESTS: Final = {APPEND: 1, ROW_DELTA: 2, COMPACTION: 2, DELETE: 1}  # that a first attempt writes
EVEN_UP_TO: Final = 0.98  # quantiles stand at equal distances up to here
INTRO: Final = """
Closed loops as above, with four differences. A writer *loads* its table before every txn, or *keeps* the one it loaded
first, as a streaming job does. What a client does between two commits is measured and is the model's runtime. Manifests
are not merged. Behind *rest* stands Iceberg's own `CatalogHandlers` in a small server, whose time to answer is
measured. In four cells writers share a lock around their commits (*queue*), or whoever comes first waits for the next
second and commits the files of all who wait (*gather*). In the *mix* half of the writers append, a quarter changes rows
(row delta, serializable) and a quarter compacts; none is in conflict, and each kind is judged by itself.
"""

REMARKS: Final = """
**P95 of lone writers is low**, in all seven cells, by 5 to 17 %: other work slows the machine for seconds, and the
model draws every request by itself. Where a machine is busy by fits, expect the model's P95 to be low.

**Rates behind REST are high**, and fewer retries run out. The server's time to answer was recorded for all commits
together; an accepted one takes longer, and while it does others prepare to lose against it. What was measured lies
between the two ends of that in every cell (file above).

**Why so much is unclear.** Each cell ran for a minute in all, at load averages of 20 and more on two cores;
`endive verify load --live` measures on yours. In the mix of four, eleven row deltas ended and none committed: too few
to tell. The recorder's compactions read their manifest twice, because they name a file that no scan has returned; in
the mix the model cannot be told so, and compactions there are shown without a verdict.
"""


def run(options: Options) -> Outcome:
    """Hold the model against the measurement, or against a new one."""
    loops = [loop for loop in all_loops() if not options.is_quick or is_quick_loop(loop)]
    if options.is_live:
        document = rigs.java_loops(loops, options.iceberg_jars, *(LIVE_QUICK if options.is_quick else LIVE))
    else:
        document = read_loops()
    checks = [check for loop in loops for check in _cell(document, loop, options)]
    return Outcome(
        intro=INTRO,
        checks=tuple(checks),
        tables=(_input_table(document, loops), *([] if options.is_quick else [_rest_table(document, loops)])),
        remarks=REMARKS,
        provenance=provenance(
            iceberg=document["iceberg"], measured=document["date"], machine=document["machine"], cells=len(loops)
        ),
    )


def read_loops() -> dict[str, Any]:
    """What was recorded: the loops, and those whose commits are ordered, with the machine's figures of each."""
    first, ordered = read_load(LOOPS_FILE), read_load(ORDERED_FILE)
    return {**first, "loops": {**first["loops"], **ordered["loops"]}, "ordered": ordered}


def is_quick_loop(loop: Loop) -> bool:
    """Four writers of one kind: the cells a quick run compares."""
    return loop.writers == 4 and loop.operation != MIX


def _cell(document: Mapping[str, Any], loop: Loop, options: Options) -> list[Check]:
    """What is judged of one cell, kind by kind."""
    runs = document["loops"][loop.key]
    kinds = list(dict.fromkeys(loop.operations))
    configs = [configuration(document, loop, place) for place in range(len(runs))]
    groups = GROUPS_QUICK if options.is_quick else GROUPS
    simulated = load_model.simulate(configs, range(groups * len(runs)), kinds)
    checks = []
    for kind in kinds:
        what: dict[str, Value] = {
            "loop": f"{kind} in a mix" if len(kinds) > 1 else kind,
            "table": loop.table,
            "catalog": loop.catalog,
            "writers": loop.operations.count(kind),
            "order": loop.order,
        }
        real = [ended(run, loop, kind) for run in runs]
        found = closed_checks("", what, real, simulated[kind], runs[0]["duration_s"])
        is_explained = len(kinds) > 1 and kind == COMPACTION
        checks += [shown(check, "not judged: see below") for check in found] if is_explained else found
    return checks


def ended(run: Mapping[str, Any], loop: Loop, kind: str) -> list[Txn]:
    """One kind's txns that ended before the run was over."""
    return [
        (float(end_ms - commit_ms), bool(is_committed), attempts)
        for writer, _, _, commit_ms, end_ms, is_committed, attempts in run["txns"]
        if loop.operations[writer] == kind and end_ms <= 1000.0 * run["duration_s"]
    ]


# ---- the model's side ------------------------------------------------------------------------------------


def configuration(document: Mapping[str, Any], loop: Loop, place: int) -> dict[str, Any]:
    """One run of the cell in the model's words, with what requests took in that run.

    What slows a run (a JVM that has just started, other work on the machine) slows all of its requests: runs of one
    cell have medians from 212 to 544 ms. With latencies of all runs together that would average out in every commit.
    """
    if loop.order != FREE:
        document = document.get("ordered", document)  # recorded on another day
    runs = [document["loops"][loop.key][place]]
    beyond = [run["beyond_ms"] for run in runs]
    spare = [
        [run["beyond_ms"] for run in document["loops"][loop.key]],
        [run["beyond_ms"] for runs in document["loops"].values() for run in runs],
    ]
    objects = latencies(
        document["delays_ms"], beyond, spare, is_first_dearer=True, first_manifests=_first_manifests(loop, runs)
    )
    if loop.operation == APPEND:
        objects["manifest"].pop("read", None)
    elif loop.operation == COMPACTION:
        objects["manifest"]["read"] = _twice(objects["manifest"]["read"])
    catalog: dict[str, Any] = {"type": "service", "latency_ms": statement_ms(beyond, document["pointer_ms"])}
    if loop.catalog == "rest":
        objects["metadata"] = {"write": {"distribution": "fixed", "ms": document["delays_ms"]["PUT"]}}
        quantiles = pooled_quantiles(beyond, lambda label: label.endswith("catalog"))
        catalog = {
            "type": "service",
            "service": {"flavour": "rest"},
            "latency": {"distribution": "empirical", "quantiles": quantiles},
        }
    base_count = BASE_SNAPSHOTS + loop.operations.count(COMPACTION)
    return {
        "simulation": {"duration_ms": 1000.0 * runs[0]["duration_s"], "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "s3", "min_latency_ms": 0.0, "objects": objects},
        "catalog": catalog,
        "table": {"initial_manifests": base_count, "initial_snapshots": base_count},
        "commit": {"release": line_of(document["iceberg"]), **({} if loop.operation == APPEND else {"merging": "off"})},
        "source": [_source(loop, kind, runs) for kind in dict.fromkeys(loop.operations)],
    }


def _first_manifests(loop: Loop, runs: Sequence[Mapping[str, Any]]) -> float:
    """How many manifests a first attempt writes, in the mean over the txns of the cell."""
    written = [FIRST_MANIFESTS[loop.operations[row[0]]] for run in runs for row in run["txns"]]
    return sum(written) / len(written)


def _twice(distribution: Mapping[str, Any]) -> dict[str, Any]:
    """Two reads in a row.

    The recorder's compactions name a file that no scan has returned, so that Iceberg does not know its manifest and
    reads each candidate twice: whether it holds the file, and to write it anew. Spark's compaction reads it once.
    """
    return {**distribution, "quantiles": [[share, 2.0 * ms] for share, ms in distribution["quantiles"]]}


def _source(loop: Loop, kind: str, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The writers of one kind; their runtime is what their clients did between two commits."""
    source: dict[str, Any] = {
        "name": kind,
        "arrivals": {"kind": "closed", "clients": loop.operations.count(kind)},
        "operation_types": {KINDS[kind]: 1.0},
        "runtime": {"distribution": "fixed", "ms": _building_ms(loop, kind, runs)},
    }
    if kind == COMPACTION:
        source["rewritten_manifests"] = 1
    if loop.table == KEEP:
        source["keeps_table"] = True
    if loop.order != FREE:
        source["commit_queue"] = loop.order
    if loop.order == GATHER:
        source["gather_every_ms"] = 1000.0 * GATHER_EVERY_S
    return source


def _building_ms(loop: Loop, kind: str, runs: Sequence[Mapping[str, Any]]) -> float:
    """Mean time from the loaded table to the beginning of the commit."""
    taken = [row[3] - row[2] for run in runs for row in run["txns"] if loop.operations[row[0]] == kind]
    return round(sum(taken) / len(taken), 1) if taken else 0.0


def _with_slow_winners(config: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """The same run if the commits that the server accepted were the slowest of those it answered.

    What it took to answer is recorded for all of them together. In the model only a commit that passes the check
    writes the metadata, so what it takes longer stands there.
    """
    beyond = run["beyond_ms"]
    labels = [label for label in beyond if label.endswith("POST catalog")]
    accepted = sum(bool(row[5]) for row in run["txns"]) / sum(beyond[label][0] for label in labels)
    quantiles = [pair for pair in pooled_quantiles([beyond], labels.__contains__) if pair[0] <= EVEN_UP_TO]
    cut = max(1, sum(share <= 1.0 - accepted for share, _ in quantiles))
    refused, slowest = ([ms for _, ms in part] for part in (quantiles[:cut], quantiles[cut:] or quantiles[-1:]))
    more_ms = max(0.0, sum(slowest) / len(slowest) - sum(refused) / len(refused))
    write_ms = config["storage"]["objects"]["metadata"]["write"]["ms"]
    objects = {
        **config["storage"]["objects"],
        "metadata": {"write": {"distribution": "fixed", "ms": write_ms + more_ms}},
    }
    even = [[place / (len(refused) - 1 or 1), ms] for place, ms in enumerate(refused)]
    loads = pooled_quantiles([beyond], lambda label: label.endswith("GET catalog"))
    service = {"flavour": "rest", "commit_latency": {"distribution": "empirical", "quantiles": even}}
    catalog = {"type": "service", "service": service, "latency": {"distribution": "empirical", "quantiles": loads}}
    return {**config, "storage": {**config["storage"], "objects": objects}, "catalog": catalog}


# ---- shown beside the checks -------------------------------------------------------------------------------


def _rest_table(document: Mapping[str, Any], loops: Sequence[Loop]) -> Table:
    """Contended loops behind REST, between the two ends of what an accepted commit may have taken."""
    rows: list[tuple[Value, ...]] = []
    for loop in (each for each in loops if each.catalog == "rest" and each.writers > 1):
        runs = document["loops"][loop.key]
        plain = [configuration(document, loop, place) for place in range(len(runs))]
        slow = [_with_slow_winners(config, run) for config, run in zip(plain, runs, strict=True)]
        seeds = range(GROUPS_QUICK * len(runs))
        played = [load_model.simulate(configs, seeds, [APPEND])[APPEND] for configs in (plain, slow)]
        real = [ended(run, loop, APPEND) for run in runs]
        of = [Figures.of_runs(each, runs[0]["duration_s"]) for each in (*played, real)]
        told = [f"{one.committed_per_s:.2f}" for one in of] + [f"{one.exhausted_percent:.0f}" for one in of]
        rows.append((loop.table, loop.writers, *told))
    ways = ("as all", "the slowest", "measured")
    return Table(
        title="Behind REST: if accepted commits took as long as all, and if they were the slowest",
        headings=("table", "writers", *(f"1/s, {way}" for way in ways), *(f"exhausted %, {way}" for way in ways)),
        rows=tuple(rows),
        is_filed=True,
    )


def _input_table(document: Mapping[str, Any], loops: Sequence[Loop]) -> Table:
    """How busy the machine was, and what the model was told of the clients."""
    rows: list[tuple[Value, ...]] = []
    for loop in loops:
        runs = document["loops"][loop.key]
        txns = sum(len(run["txns"]) for run in runs)
        building = " / ".join(f"{_building_ms(loop, kind, runs):.0f}" for kind in dict.fromkeys(loop.operations))
        name = f"{loop.operation} {loop.order}".rstrip()
        rows.append((name, loop.table, loop.catalog, loop.writers, len(runs), txns, building, load_averages(runs)))
    headings = ("loop", "table", "catalog", "writers", "runs", "txns", "between commits, ms", "load average")
    return Table(title="The measurement", headings=headings, rows=tuple(rows))
