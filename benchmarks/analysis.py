"""How long the analysis of a sweep takes, and how much memory, beside DuckDB on the same aggregation.

The dataset is synthetic: runs that were simulated, repeated under other names until there are enough txns. Each
contender has a process of its own; time and memory are those of its whole process tree. ``analyze`` is the whole of
``endive analyze``. ``spark`` and ``duckdb`` make the two aggregations over txns that it needs: counts by bins of time,
and sums by outcome, attempts and n_behind; ``session`` starts Spark, counts ten rows and ends. ``recount`` and
``duckdb-figures`` derive every figure of every run from txns, which an analysis does not do: it is what
``endive verify dataset`` costs.

    python -m benchmarks.analysis
    python -m benchmarks.analysis --txns 3e6 --only analyze,duckdb
    python -m benchmarks.analysis --only session,spark,duckdb --txns 15e6 --times 3
    python -m benchmarks.analysis --only analyze,spark,duckdb --txns 15e6 --growth   also 150 million: 8 GB of disk
    python -m benchmarks.analysis --folder out --only analyze   what ``benchmarks.sweep --out out`` has swept
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import Figures, machine, table, watched

TXNS_GOAL = 14_000_000
WALL_S_GOAL = 60  # on two quiet cores
MEMORY_GB_GOAL = 4
CPU_RATIO_GOAL = 2.0  # Spark without its start, against DuckDB with its own

STUDY = """
[study]
name = "synthetic"
seeds = {seeds}

[axes]
"transaction.inter_arrival.scale" = [{scales}]

[base.simulation]
duration_ms = 3_600_000

[base.transaction]
retry = 10
runtime = {{ mean = 20_000, sigma = 1.0, min = 1_000 }}
operation_types = {{ fast_append = 0.9, validated_overwrite = 0.1 }}
"""
SCALES_MS = (200, 500, 2_000)  # some runs are a hundred times as large as others, as in a real sweep


# ---- the dataset -------------------------------------------------------------------------------------


def make_dataset(folder: Path, txns: int) -> None:
    """A folder as ``endive sweep`` leaves it, with about so many txns; simulates each scale once."""
    import endive
    from endive.config.study import load_study
    from endive.config.study.study_text import study_text
    from endive.pipeline.dataset.latency_counts import latency_counts
    from endive.pipeline.dataset.part_files import LATENCIES, TRANSACTIONS
    from endive.pipeline.dataset.sweep_folder import STUDIES, StudyPlan, SweepFolder
    from endive.pipeline.sweep.gather import gather
    from endive.pipeline.sweep.part import PartFile, write_latencies
    from endive.pipeline.sweep.plan import axis_fields, plan_parts, plan_runs

    file = folder.with_suffix(".toml")
    per_seed = sum(3_600_000 / scale for scale in SCALES_MS)
    scales = ", ".join(str(scale) for scale in SCALES_MS)
    file.write_text(STUDY.format(seeds=max(1, round(txns / per_seed)), scales=scales))
    study = load_study(file)
    runs = plan_runs(study)
    results = {point.index: endive.simulate(point.config, seed=1) for point in study.expand()}
    parts = plan_parts(runs, cores=2, kept={run.run_id for run in runs})
    sweep = SweepFolder(folder, {study.name: StudyPlan("transactions", list(parts))})
    sweep.make_places(study.name)
    sweep.write_manifest()
    by_id = {run.run_id: run for run in runs}
    records = {
        run.run_id: {
            "run_id": run.run_id,
            "status": "ok",
            "error": None,
            "txns": results[run.point].statistics.n_txns,
            "transactions_kept": True,
            **results[run.point].to_json_dict(),
        }
        for run in runs
    }
    for part in parts:
        files = sweep.files(study.name, part)
        files.make_places()
        parquet = PartFile(files.transactions)
        for run_id in part.run_ids:
            parquet.add(run_id, by_id[run_id].seed, results[by_id[run_id].point].transactions)
        parquet.finish()
        counts = [latency_counts(run_id, results[by_id[run_id].point].statistics) for run_id in part.run_ids]
        told = {LATENCIES: write_latencies(files.latencies, counts), TRANSACTIONS: parquet.facts()}
        files.write_record([records[run_id] for run_id in part.run_ids], told)
        parquet.publish()
    gather(sweep, study.name, runs, axis_fields(study.columns, runs), records.values())
    (folder / STUDIES / f"{study.name}.toml").write_text(study_text(study))
    sweep.summaries(study.name).seal({part.name: sweep.files(study.name, part).digest() for part in parts})


# ---- contenders: each is called in a process of its own ------------------------------------------------


def analyze(folder: Path, master: str) -> None:
    """All of it, as the command does."""
    from endive.pipeline import make_session
    from endive.pipeline.analysis.run_analysis import analyze as run
    from endive.pipeline.analysis.run_analysis import session_settings

    run(folder, lambda: make_session(master=master, conf=session_settings(folder, master)))


def session(folder: Path, master: str) -> None:
    """What every session costs, whatever it does."""
    from endive.pipeline import make_session
    from endive.pipeline.analysis.run_analysis import session_settings

    make_session(master=master, conf=session_settings(folder, master)).range(10).count()


def spark(folder: Path, master: str) -> None:
    """The aggregations over txns only, with the sweep's own counts of latencies, which lie beside them."""
    from endive.pipeline import make_session
    from endive.pipeline.analysis.count_tables import collect_counts
    from endive.pipeline.analysis.open_dataset import open_dataset
    from endive.pipeline.analysis.run_analysis import session_settings

    session = make_session(master=master, conf=session_settings(folder, master))
    print({name: table.num_rows for name, table in collect_counts(session, open_dataset(folder), 60).items()})


def duckdb(folder: Path, master: str) -> None:
    """The same two aggregations; two threads. Every run of this dataset has one window of half an hour."""
    engine = _duckdb()
    source = f"read_parquet('{folder}/transactions/*/*/*.parquet')"
    bins = "cast(least({0} * 60 / 3600000, 59) as int)"
    timeline = engine.sql(
        f"select run_id, kind, source, status, {bins.format('submit_ms')} as s, {bins.format('end_ms')} as e, "
        f"count(*), sum(commit_latency_ms) filter (status = 'committed') from {source} group by all"
    )
    tally = engine.sql(
        "select run_id, kind, source, status, reason, in_flight_stage, submit_ms between 900000 and 2700000 as inside, "
        "attempts, case when history_lists > 0 then n_behind_first end as behind, count(*), sum(attempts), "
        "sum(n_behind_first), sum(history_lists), sum(phase_history_ms), sum(commit_latency_ms) "
        f"from {source} group by all"
    )
    print(timeline.to_arrow_table().num_rows, tally.to_arrow_table().num_rows)


def recount(folder: Path, master: str) -> None:
    """Every figure from txns, compared with what was written."""
    from endive.pipeline import make_session
    from endive.verification.dataset import check_dataset

    outcome = check_dataset(folder, lambda: make_session(master=master))
    assert outcome.holds
    print(len(outcome.checks))


def _duckdb() -> Any:
    import duckdb as engine

    engine.sql("set threads = 2")
    engine.sql("set memory_limit = '4GB'")
    return engine


def duckdb_figures(folder: Path, master: str) -> None:
    """One statement with grouping sets; two threads."""
    from endive.pipeline.analysis.open_dataset import COUNTED
    from endive.results import schema as s

    sums = ", ".join(f"sum({name}) as {name}" for name in COUNTED)
    phases = ", ".join(f"sum(phase_{phase}_ms) filter (status = 'committed') as {phase}" for phase in s.PHASES)
    quantiles = ", ".join(
        f"quantile_cont({name}_latency_ms, [0.5, 0.95, 0.99]) filter (status = 'committed') as {name}"
        for name in ("commit", "total")
    )
    answer = _duckdb().sql(
        f"select run_id, kind, source, count(*) filter (status = 'committed') as committed, "
        f"count(*) filter (status = 'aborted') as aborted, {sums}, {phases}, {quantiles} "
        f"from read_parquet('{folder}/transactions/*/*/*.parquet') "
        f"where submit_ms >= 900000 and submit_ms < 2700000 "
        f"group by grouping sets ((run_id), (run_id, kind), (run_id, source))"
    )
    assert answer is not None
    print(len(answer.fetchall()))


CONTENDERS: dict[str, Callable[[Path, str], None]] = {
    "analyze": analyze,
    "session": session,
    "spark": spark,
    "duckdb": duckdb,
    "recount": recount,
    "duckdb-figures": duckdb_figures,
}


# ---- measuring ---------------------------------------------------------------------------------------


def measured(name: str, folder: Path, master: str, times: int) -> Figures:
    """Seconds, CPU seconds and largest memory of a contender and all it starts, at its best of so many times."""
    command = [sys.executable, "-m", "benchmarks.analysis", "--contender", name]
    runs = [watched([*command, "--folder", str(folder), "--master", master]) for _ in range(times)]
    return min(runs, key=lambda run: (not run["is_ok"], run["cpu_s"]))


def row(name: str, txns: int, figures: Figures) -> list[str]:
    """One line of the table."""
    if not figures["is_ok"]:
        return [name, f"{txns:,}", "failed", "-", f"{figures['memory_gb']:.2f}"]
    return [name, f"{txns:,}", *(f"{figures[key]:.1f}" for key in ("wall_s", "cpu_s")), f"{figures['memory_gb']:.2f}"]


def verdicts(found: dict[tuple[str, int], Figures]) -> Iterator[list[str]]:
    """Goals beside what was reached: time and memory of 14 million txns, growth from one size to another."""
    for (name, txns), figures in found.items():
        if name == "analyze" and TXNS_GOAL * 0.95 <= txns <= TXNS_GOAL * 2 and figures["is_ok"]:
            yield ["analyze: wall time", f"< {WALL_S_GOAL} s", f"{figures['wall_s']:.1f} s"]
            yield ["analyze: memory", f"< {MEMORY_GB_GOAL} GB", f"{figures['memory_gb']:.2f} GB"]
    for txns in sorted({txns for _, txns in found}):
        sides = [found.get((name, txns)) for name in ("spark", "session", "duckdb")]
        if all(side and side["is_ok"] for side in sides):
            whole_s, start_s, duckdb_s = (side["cpu_s"] for side in sides if side)
            ratio = (whole_s - start_s) / duckdb_s
            yield [f"CPU of {txns:,} txns: Spark / DuckDB", f"<= {CPU_RATIO_GOAL:.0f} x", f"{ratio:.1f} x"]
    sizes = sorted({txns for _, txns in found})
    for name in dict.fromkeys(name for name, _ in found) if len(sizes) == 2 else ():
        small, large = (found[name, txns] for txns in sizes)
        if small["is_ok"] and large["is_ok"]:
            times = sizes[1] / sizes[0]
            yield [f"{name}: CPU time, {times:.0f} x", f"<= {times:.0f} x", f"{large['cpu_s'] / small['cpu_s']:.1f} x"]
            yield [f"{name}: memory, {times:.0f} x", "<= 1.3 x", f"{large['memory_gb'] / small['memory_gb']:.1f} x"]


def txns_of(folder: Path) -> int:
    """How many txns a dataset has."""
    import pyarrow.parquet as pq

    files = sorted(folder.glob("runs/*/runs.parquet"))
    return sum(sum(pq.ParquetFile(file).read(["txns"])["txns"].to_pylist()) for file in files)


def main() -> None:
    """Make the dataset, run the contenders, print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--txns", type=float, default=TXNS_GOAL)
    parser.add_argument("--only", default=",".join(CONTENDERS), help=f"some of: {', '.join(CONTENDERS)}")
    parser.add_argument(
        "--growth", type=int, nargs="?", const=10, help="also so many times as many txns; 10 if not said"
    )
    parser.add_argument("--folder", type=Path, help="keep the dataset here, or take it from here")
    parser.add_argument("--times", type=int, default=1, help="the best of so many")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.contender:
        CONTENDERS[given.contender](given.folder, given.master)
        return
    print(machine())
    found: dict[tuple[str, int], Figures] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for times in (1, given.growth) if given.growth else (1,):
            folder = (given.folder or Path(scratch) / "dataset").resolve()
            folder = folder.with_name(f"{folder.name}-x{times}") if times > 1 else folder
            if not folder.exists():
                make_dataset(folder, int(given.txns) * times)
            txns = txns_of(folder)
            for name in given.only.split(","):
                found[name, txns] = measured(name, folder, given.master, given.times)
    rows = [row(*key, figures) for key, figures in found.items()]
    print(table(("contender", "txns", "wall (s)", "CPU (s)", "memory (GB)"), rows))
    if goals := list(verdicts(found)):
        print()
        print(table(("goal", "wanted", "reached"), goals))


if __name__ == "__main__":
    main()
