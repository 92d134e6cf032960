"""The first configuration of a study as it was simulated, for whoever wants to check an answer.

An analysis keeps the resolved configuration, its hash, the seeds of the study, and how well the latencies are known
that it uses.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow.compute as pc

from endive.pipeline.analysis.assumptions import known_figures
from endive.pipeline.analysis.open_dataset import Dataset


def first_configuration(dataset: Dataset, study: str) -> dict[str, Any]:
    """``configuration``, ``config_hash``, ``seeds`` and ``known`` of the study's first point."""
    runs = dataset.runs.filter(pc.equal(dataset.runs["study"], study)).select(["point", "seed", "config_hash"])
    rows = sorted(runs.to_pylist(), key=lambda row: (row["point"], row["seed"]))
    first = rows[0]
    text = dataset.configs[study, first["point"]]
    return {
        "configuration": json.loads(text),
        "config_hash": first["config_hash"],
        "seeds": sorted({row["seed"] for row in rows}),
        "known": [figure.to_dict() for figure in known_figures(text)],
    }
