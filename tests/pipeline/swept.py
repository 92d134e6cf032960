"""Four studies swept into one folder, and its analysis, made once for all tests that only look."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.pipeline.in_process import InProcessSpark

from endive.config.study import load_study
from endive.pipeline import PlannedStudy, run_sweep
from endive.pipeline.analysis.run_analysis import Analysis, analyze
from endive.pipeline.dataset.files import place_of
from endive.pipeline.dataset.runs_table import run_objects
from endive.pipeline.dataset.seal import content_digest, seal_document, unseal_document
from endive.pipeline.sweep import part as part_module

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Two sources, three operation types, retries and aborts: 2 loads x 2 catalogs x 3 seeds. Seed 44 of one point fails.
MIXED = """
[study]
name = "mixed"
title = "Mixed load"
seeds = [42, 43, 44]

[axes]
"source.appends.arrivals.mean_ms" = [150, 1500]
"catalog.type" = ["cas", "instant"]

[base.simulation]
duration_ms = 30_000

[base.transaction]
runtime = { mean = 1_000, sigma = 0.5, min = 200 }

[[base.source]]
name = "appends"
arrivals = { kind = "poisson", mean_ms = 150 }
operation_types = { fast_append = 0.8, merge_append = 0.2 }

[[base.source]]
name = "overwrites"
arrivals = { kind = "periodic", period_ms = 1_000 }
operation_types = { validated_overwrite = 1.0 }
"""

# Windows of different lengths: in the first nothing is submitted, of the second nothing ends; 1 seed.
LENGTHS = """
[study]
name = "lengths"

[axes]
"simulation.duration_ms" = [20, 900, 6_000]

[base.transaction]
inter_arrival = { scale = 50 }
runtime = { mean = 1_500, sigma = 0.5, min = 1_200 }
"""

# Without txns.
BARE = """
[study]
name = "bare"
seeds = 2

[axes]
"transaction.inter_arrival.scale" = [400, 800, 1600]

[base.simulation]
duration_ms = 20_000

[base.transaction]
runtime = { mean = 1_000, sigma = 0.5, min = 200 }
"""


def sweep_into(folder: Path, text: str, scratch: Path, **options: Any) -> None:
    """Sweep a study into a folder without a JVM."""
    file = scratch / "study.toml"
    file.write_text(text)
    run_sweep(PlannedStudy.of(load_study(file)), folder, InProcessSpark, **options)


def _fail_once(run: Any) -> Any:
    def failing(self: Any, seed: int, **options: Any) -> Any:
        is_chosen = len(self.config.sources) == 2 and self.config.sources[0].arrivals.mean_ms == 1500.0
        if is_chosen and seed == 44 and self.config.catalog.type == "cas":
            raise ZeroDivisionError("by nought")
        return run(self, seed, **options)

    return failing


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the four studies. Look, but do not touch."""
    scratch = tmp_path_factory.mktemp("swept")
    folder = scratch / "dataset"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_module.Simulation, "run", _fail_once(part_module.Simulation.run))
        sweep_into(folder, MIXED, scratch)
    sweep_into(folder, LENGTHS, scratch)
    sweep_into(folder, BARE, scratch, detail="runs")
    sweep_into(folder, BARE.replace('"bare"', '"sampled"'), scratch, detail="sample")
    return folder


@pytest.fixture(scope="session")
def analysis(swept: Path, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """The analysis of a copy of that folder, made once."""
    folder = tmp_path_factory.mktemp("analysis") / "dataset"
    shutil.copytree(swept, folder)
    return analyze(folder, lambda: spark)


@pytest.fixture
def dataset(swept: Path, tmp_path: Path) -> Path:
    """A copy of the folder that a test may damage."""
    return Path(shutil.copytree(swept, tmp_path / "dataset"))


def change_rows(folder: Path, study: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Rewrite the table of runs of a study, under a name that fits: as a stranger would."""
    for place in run_objects(place_of(folder), study):
        path = Path(str(place))
        stream = pa.BufferOutputStream()
        pq.write_table(change(pq.ParquetFile(path).read()), stream)
        path.unlink()
        (path.parent / f"{content_digest(stream.getvalue())}.parquet").write_bytes(stream.getvalue())


def change_value(folder: Path, study: str, column: str, row: int, change: Callable[[Any], Any]) -> None:
    """Rewrite one value of it, of the run that comes first, second, .. by point and seed."""

    def rewrite(table: pa.Table) -> pa.Table:
        ordered = table.sort_by([("point", "ascending"), ("seed", "ascending")])
        values = ordered[column].to_pylist()
        values[row] = change(values[row])
        field = ordered.schema.field(column)
        return ordered.set_column(ordered.column_names.index(column), field, pa.array(values, field.type))

    change_rows(folder, study, rewrite)


def change_marker(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A marker that says something else, with a digest that fits: as a stranger would make it."""
    document = unseal_document((folder / "_endive.json").read_bytes())
    change(document)
    (folder / "_endive.json").write_bytes(seal_document(document))
