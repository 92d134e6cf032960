"""Figures of runs that an earlier release has recorded."""

import pyarrow as pa
import pytest

import endive
from endive.tables.figure_columns import FIGURES, figures_of, with_known_requests


@pytest.fixture
def block():
    config = {
        "simulation": {"duration_ms": 20_000.0},
        "source": [{"name": "w", "arrivals": {"kind": "poisson", "per_s": 1.0}}],
    }
    told = endive.simulate(config, engine="reference").to_json_dict()
    return {**told["summary"], "requests": told["requests"]}


def test_what_a_release_did_not_count_did_not_happen_and_ages_it_did_not_tell_are_not_known(block):
    for name in ("freshness_ms", "data", "stale_share", "lost_share"):
        block.pop(name)
    block["counters"].pop("gathered")
    found = figures_of(block)

    assert (0, None, None) == (found["gathered"], found["freshness_p95_ms"], found["data_lost"])


def test_columns_that_a_dataset_does_not_have_yet_are_added(block):
    table = pa.Table.from_pylist([figures_of(block)])
    missing = ["gathered", "freshness_p95_ms", "requests_catalog_create"]
    found = with_known_requests(table.drop_columns(missing))

    assert set(FIGURES) <= set(found.column_names)
    assert [0, None, 0] == [found[name][0].as_py() for name in missing]
