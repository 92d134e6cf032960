"""Analyses for the tests of the report, made once: none of the tests changes them."""

from pathlib import Path

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.report.report import Report, make_report

LOADS = (0.5, 1, 2, 4, 8)


@pytest.fixture(scope="session")
def two_protocols(tmp_path_factory) -> Path:
    """Five loads, two protocols, three seeds; a table takes 3 and 3.15 txns/s."""
    study = SyntheticStudy("two_protocols", {"load_per_s": LOADS, "commit.protocol": ("iceberg", "merge")})
    committing = "2.0% of the window's txns were still committing."
    told = [
        {"point": 4, "warning": "unsteady_window", "value": 0.3, "text": "It changed by 30 %."},
        {"point": 8, "warning": "unsteady_window", "value": 0.4, "text": "It changed by 40 %."},
        {"point": 9, "seed": 2, "run_id": "r", "warning": "still_committing", "value": 0.02, "text": committing},
        {"warning": "single_seed", "value": 1, "text": "1 of 10 has a single seed."},
    ]
    warnings = [{"study": "two_protocols", **each} for each in told]
    return write_synthetic(tmp_path_factory.mktemp("two_protocols"), study, warnings=warnings)


@pytest.fixture(scope="session")
def report(two_protocols) -> Report:
    """What the page of ``two_protocols`` says."""
    return make_report(two_protocols)


@pytest.fixture(scope="session")
def grid(tmp_path_factory) -> Path:
    """Four axes, two of them numbers, so that there is a heatmap, panels and a selector."""
    axes = {
        "transaction.inter_arrival.scale": (125, 250, 500, 1000),
        "commit.protocol": ("iceberg", "merge"),
        "catalog.num_tables": (1, 5, 20),
        "storage.provider": ("s3", "azure"),
    }
    return write_synthetic(
        tmp_path_factory.mktemp("grid"), SyntheticStudy("grid", axes, load="transaction.inter_arrival.scale")
    )
