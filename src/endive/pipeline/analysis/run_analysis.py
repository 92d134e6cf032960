"""The analysis of a sweep: every table, from the folder to the folder.

The tables are made in ``endive.pipeline.analysis.collect``. Nothing goes through ``sparkContext``, so Spark Connect
works too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from endive.errors import ConfigError, EndiveError, EngineError
from endive.pipeline.analysis.analysis_folder import refuse_foreign, write_analysis
from endive.pipeline.analysis.open_dataset import Dataset, open_dataset
from endive.pipeline.dataset.check import ANALYSIS
from endive.pipeline.dataset.files import Place
from endive.pipeline.spark.session import PYTHON_JOBS, explain_spark
from endive.tables.across_seeds import METHOD
from endive.tables.load_axis import LoadAxis, find_load_axis
from endive.tables.run_counts import BINS
from endive.tables.verdicts import objective_texts, point_objectives, study_names
from endive.tables.warning_table import first_configuration

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS: Final = {**PYTHON_JOBS, "spark.driver.memory": "2g"}  # of a session made for an analysis

TITLES: Final = {
    "configurations": "Configurations: leading figures, means over seeds with 95 % intervals",
    "sustained": "The highest load at which each curve meets the objective",
    "runs": "Runs: every figure of every run",
    "operations": "Runs by operation type",
    "sources": "Runs by source",
    "figures": "Every figure of every configuration, mean over seeds with 95 % interval",
    "phases": "Where a committed txn's time goes",
    "requests": "Requests by object and operation",
    "conflicts": "Conflicts, retries' counters and reasons to abort",
    "attempts": "Txns by number of commit attempts",
    "convoy": "Manifest lists read against n_behind, of txns that read history",
    "latencies": "Latencies of committed txns, all seeds of a configuration together",
    "histogram": "Committed txns by latency, all seeds of a configuration together",
    "timeline": "Rates over simulated time",
    "warnings": "Warnings",
}
PERCENTILES: Final = (
    "of runs: exact, with linear interpolation between order statistics, as the sweep measured them; of configurations "
    "(tables latencies and histogram): from counts on a grid of 128 bins per octave, all seeds together"
)
SUSTAINED: Final = (
    "a configuration meets the objective of its study if it holds for the means over its seeds; the sustained load "
    "of a curve is the highest one such that it and all lower ones meet it"
)

SessionMaker = Callable[[], "SparkSession"]
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What was written, and the tables themselves."""

    folder: Place
    index: Mapping[str, Any]
    tables: Mapping[str, pa.Table]


def analyze(
    path: str | Path | Place,
    session: SessionMaker,
    *,
    load: str | None = None,
    slo: str | None = None,
    tell: Told = lambda step: None,
) -> Analysis:
    """Analyse the sweep in a folder and write ``analysis/`` into it, in the place of an earlier one.

    ``load``: the load axis, if the one found is not meant. ``slo``: the objective,
    instead of the study's. ``tell`` is called with each step. The session is made only after the folder has been
    checked. Raises EndiveError; the data is never touched.
    """
    from endive.pipeline.analysis.collect import make_tables

    tell("checking the folder")
    dataset = open_dataset(path)
    refuse_foreign(dataset.place)
    loads = find_loads(dataset, load)
    texts = objective_texts({study: facts.document for study, facts in dataset.studies.items()}, slo)
    objectives = point_objectives(dataset.configs, texts)
    tell("starting Spark")
    spark = session()
    with spark_errors():
        made = make_tables(spark, dataset, loads, objectives, tell=tell)
    tables = {name: made[name] for name in TITLES if name in made}
    tell("writing")
    facts = _facts(dataset, loads, texts, tables)
    index = write_analysis(dataset.place, tables, TITLES, facts, dataset.model_version)
    return Analysis(folder=dataset.place / ANALYSIS, index=index, tables=tables)


def explain(path: str | Path | Place, session: SessionMaker) -> str:
    """Return the physical plan of the analysis of a folder: what Spark scans, exchanges and aggregates."""
    from endive.pipeline.analysis.count_frames import explain_counts

    dataset = open_dataset(path)
    spark = session()
    with spark_errors():
        return explain_counts(spark, dataset)


def find_loads(dataset: Dataset, wanted: str | None) -> dict[str, LoadAxis]:
    """The load axis of every study; ``wanted`` must be an axis of at least one of them, and holds where it is."""
    rows = dataset.runs.select(["study", "point", *dataset.axes]).to_pylist()
    loads: dict[str, LoadAxis] = {}
    if wanted is not None and wanted not in dataset.axes:
        known = ", ".join(dataset.axes) or "there are none"
        raise ConfigError(f"--load {wanted} is not an axis. The axes: {known}.")
    for study, facts in dataset.studies.items():
        points = {row["point"]: {axis: row[axis] for axis in facts.axes} for row in rows if row["study"] == study}
        chosen = wanted if wanted in facts.axes else None
        loads[study] = find_load_axis(points, facts.axes, wanted=chosen, drawn=facts.drawn)
    return loads


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn what Spark says into one sentence that says what to do."""
    try:
        yield
    except EndiveError:
        raise
    except Exception as error:
        raise EngineError(explain_spark(error)) from error


def _facts(
    dataset: Dataset,
    loads: Mapping[str, LoadAxis],
    texts: Mapping[str, str],
    tables: Mapping[str, pa.Table],
) -> dict[str, Any]:
    """What the index says beside the tables."""
    return {
        "interval": METHOD,
        "percentiles": PERCENTILES,
        "sustained": SUSTAINED,
        "bins": BINS,
        "studies": {
            name: {**_study_facts(dataset, name, loads[name], tables["configurations"]), "objective": texts[name]}
            for name in dataset.studies
        },
    }


def _study_facts(dataset: Dataset, name: str, load: LoadAxis, configurations: pa.Table) -> dict[str, Any]:
    facts = dataset.studies[name]
    names = study_names(dataset.configs, name)
    runs = [row for row in dataset.runs.select(["study", "status"]).to_pylist() if row["study"] == name]
    head = facts.document.get("study", {})
    seeds = [
        row["seeds"]
        for row in configurations.select(["study", "scope", "seeds"]).to_pylist()
        if row["study"] == name and row["scope"] == "all"
    ]
    return {
        "title": head.get("title"),
        "question": head.get("question"),
        "look_for": head.get("look_for"),
        "subject": head.get("subject"),
        "sources": names.sources,
        "kinds": names.kinds,
        "report": head.get("report", {}),
        "detail": facts.detail,
        "axes": list(facts.axes),
        "load_axis": load.key,
        "series": list(load.series),
        "points": len(load.placed),
        "simulated": first_configuration(dataset.runs, dataset.configs, name),
        "seeds_min": min(seeds, default=0),
        "seeds_max": max(seeds, default=0),
        "runs": len(runs),
        "runs_failed": sum(row["status"] != "ok" for row in runs),
        "runs_planned": facts.runs_planned,
    }
