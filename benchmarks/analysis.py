"""How long the analysis of a sweep takes, and how much memory, beside DuckDB on the same aggregation.

The dataset is synthetic: runs that were simulated, repeated under other names until there are enough txns. Each
contender has a process of its own; time and memory are those of its whole process tree. ``analyze`` is the whole of
``endive analyze``. ``spark`` is its job: the aggregation over txns, rolled up, and the counts of latencies beside them;
``duckdb`` gives the same rows by the same steps; ``session`` starts Spark, counts ten rows and ends.
``recount`` and ``duckdb-figures`` derive every figure of every run from txns, which an analysis does not do: it is what
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
    from endive.pipeline.dataset.part_files import LATENCIES, TRANSACTIONS, record_digest
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
    written = sweep.records(study.name, hashes=False)
    sweep.summaries(study.name).seal({record["part"]: record_digest(record) for record in written})


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
    """The aggregation over txns only, with the sweep's own counts of latencies, which lie beside them."""
    from endive.pipeline import make_session
    from endive.pipeline.analysis.count_tables import collect_rows
    from endive.pipeline.analysis.open_dataset import open_dataset
    from endive.pipeline.analysis.run_analysis import session_settings

    session = make_session(master=master, conf=session_settings(folder, master))
    print(collect_rows(session, open_dataset(folder), 60).num_rows, "rows")


def duckdb(folder: Path, master: str) -> None:
    """The same rows as ``spark``: groups of txns, rolled up as ``count_slots`` does, and latencies; two threads.

    Every run of this dataset lasts an hour, with a window of half of it, and has one source.
    """
    engine = _duckdb()
    octave = "cast(floor(log2({0} + 0.5)) as bigint)"
    upper_half = f"((cast({{0}} as bigint) >> ({octave} - 1)) & 1)"
    place = f"case when {{0}} < 4 then cast({{0}} as bigint) else 2 * {octave} + {upper_half} end"
    bins = "least({0} * 60 // 3_600_000_000, 59)"
    is_inside = "({0} >= 900_000_000 and {0} < 2_700_000_000)"
    behind = f"case when history_lists > 0 and n_behind_first >= 0 then 1 + {place.format('n_behind_first')} else 0 end"
    txns = (
        "select study, point, seed, attempts, n_behind_first, history_lists, "
        + ", ".join(f"cast({name}_ms * 1000.0 + 0.5 as bigint) as {name}_us" for name in _TIMES)
        + ", case status when 'committed' then 0 when 'aborted' then 1 else 2 end as ending, "
        "case kind when 'fast_append' then 0 else 1 end as kind_code "
        f"from read_parquet('{folder}/transactions/*/*/*.parquet', hive_partitioning = true)"
    )
    keyed = (
        f"select *, ({bins.format('submit_us')} * 60 + coalesce({bins.format('end_us')}, 0)) * 4 "
        f"+ case when {is_inside.format('submit_us')} then 2 else 0 end "
        f"+ case when ending = 0 and {is_inside.format('end_us')} then 1 else 0 end as cell, "
        f"(kind_code * 3 + ending) * 8193 + case when ending < 2 and {is_inside.format('submit_us')} "
        f"then 1 + ({place.format('attempts')}) * 128 + {behind} else 0 end as sort from ({txns})"
    )
    groups = (
        "select study, point, seed, cell, sort % 8193 as tries, sort // 8193 as label, count(*) as txns, "
        "sum(commit_latency_us) as commit_us, sum(attempts) as attempts, sum(greatest(n_behind_first, 0)) as n_behind, "
        f"sum(history_lists) as history_lists, sum(phase_history_us) as history_us from ({keyed}) group by all"
    )
    sums = ", ".join(f"sum({name}) as {name}" for name in _GROUP_SUMS)
    entered = (
        f"select study, point, seed, label, {', '.join(_GROUP_SUMS)}, unnest([cell // 240, "
        "case when label % 3 < 2 then cell // 4 % 60 + 60 else -1 end, "
        f"case when tries > 0 then tries + 124 else -1 end, (cell & 3) + 120]) as slot from ({groups})"
    )
    of_seeds = f"select study, point, seed, slot, label, {sums} from ({entered}) where slot >= 0 group by all"
    is_commit = "slot >= 60 and slot < 120 and label % 3 = 0"
    pools = ", ".join(f"case when {is_commit} then {pool} end" for pool in ("-1", "-2 - label // 3", "-4"))
    pooled = (
        f"select study, point, seed, slot, unnest([label, {pools}]) as pool, {', '.join(_GROUP_SUMS)} from ({of_seeds})"
    )
    by_pool = f"select study, point, seed, slot, pool, {sums} from ({pooled}) where pool is not null group by all"
    slots = engine.sql(
        f"select study, point, case when slot between 120 and 124 then seed end as seed, slot, pool, {sums}, "
        f"sum(case when pool < 0 then txns * txns else 0 end) as squared from ({by_pool}) group by all"
    )
    latencies = engine.sql(
        "select study, point, kind, source, latency, bin, sum(txns) "
        f"from read_parquet('{folder}/latencies/*/*.parquet', hive_partitioning = true) "
        f"join (select run_id, point from read_parquet('{folder}/runs/*/runs.parquet')) using (run_id) group by all"
    )
    assert slots is not None
    assert latencies is not None
    print(len(slots.to_arrow_table()) + len(latencies.to_arrow_table()), "rows")


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


_TIMES = ("submit", "end", "commit_latency", "phase_history")
_GROUP_SUMS = ("txns", "commit_us", "attempts", "n_behind", "history_lists", "history_us")

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
