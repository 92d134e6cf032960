"""A finished study of twelve points, made without Spark: figures from formulas, configurations that can be run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.config import parse_config

AXES = {"load_per_s": (0.5, 1, 2), "commit.protocol": ("iceberg", "pyiceberg"), "catalog.num_tables": (1, 2)}


def write_grid(folder: Path) -> Path:
    """The analysis, and the table of runs with the configuration of each point."""
    study = SyntheticStudy("grid", AXES)
    write_synthetic(folder, study)
    place = folder / "runs" / "study=grid"
    place.mkdir(parents=True)
    configs = [json.dumps(parse_config(document(point)).to_dict()) for point in study.points]
    pq.write_table(pa.table({"point": list(range(len(configs))), "config": configs}), place / "runs.parquet")
    return folder


def document(point: dict[str, Any]) -> dict[str, Any]:
    """What was simulated at a point: a minute and a half of appends."""
    return {
        "simulation": {"duration_ms": "90s", "warmup_ms": "10s", "cooldown_ms": "10s", "seed": 1},
        "catalog": {"type": "service", "latency_ms": 5.0, "num_tables": point["catalog.num_tables"]},
        "commit": {"protocol": point["commit.protocol"]},
        "source": [
            {
                "name": "appends",
                "operation_types": {"fast_append": 1.0},
                "runtime": {"distribution": "fixed", "ms": 1_000.0},
                "arrivals": {"kind": "poisson", "per_s": point["load_per_s"]},
            }
        ],
    }
