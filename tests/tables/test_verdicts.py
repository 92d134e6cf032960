"""Verdicts on configurations, from figures made by hand."""

import json

import pyarrow as pa
import pytest

from endive.errors import ConfigError
from endive.tables.verdicts import objective_texts, point_objectives, verdicts

CONFIG = json.dumps(
    {
        "catalog": {"num_tables": 3},
        "source": [
            {"name": "stream", "operation_types": {"fast_append": 1.0}, "arrivals": {"kind": "jobs"}},
            {"name": "merge", "operation_types": {"validated_overwrite": 1.0}, "arrivals": {"kind": "periodic"}},
        ],
    }
)


def figure(name, figure_name, mean, low=None, high=None):
    scope = {"all": "all", "stream": "source", "merge": "source"}.get(name, "operation")
    return {
        "study": "s", "point": 0, "scope": scope, "name": name, "figure": figure_name,
        "mean": mean, "ci95_low": low, "ci95_high": high,
    }  # fmt: skip


def judged(objective, *figures):
    """Group -> (meets, verdict, misses)."""
    rows = verdicts(pa.Table.from_pylist(list(figures)), point_objectives({("s", 0): CONFIG}, {"s": objective}))
    return {row["name"]: (row["meets_objective"], row["verdict"], row["misses"]) for row in rows.to_pylist()}


def test_a_configuration_is_judged_whole_and_by_each_group_the_objective_speaks_of():
    found = judged(
        "every source.success_rate >= 99 %",
        figure("all", "success_rate", 0.9999, 0.999, 1.0),
        figure("stream", "success_rate", 1.0, 1.0, 1.0),
        figure("merge", "success_rate", 0.0, 0.0, 0.0),
    )

    assert {
        "all": (False, "not met", "merge.success_rate >= 99 %"),
        "stream": (True, "met", None),
        "merge": (False, "not met", "merge.success_rate >= 99 %"),
    } == found


def test_a_source_without_a_txn_is_not_called_met():
    found = judged("merge.success_rate >= 99 %", figure("stream", "success_rate", 1.0))

    assert {"all": (None, "cannot tell", None), "merge": (None, "cannot tell", None)} == found


def test_a_count_that_is_zero_everywhere_is_zero():
    found = judged("merge.timeout <= 0", figure("merge", "success_rate", 1.0))

    assert (True, "met", None) == found["merge"]


def test_a_kind_is_found_under_its_operation_type():
    found = judged(
        "validated_overwrite.p99_commit <= 5s",
        figure("validated_overwrite", "commit_latency_p99_ms", 6000.0, 5900, 6100),
    )

    assert (False, "not met", "validated_overwrite.p99_commit <= 5 s") == found["validated_overwrite"]


def test_what_is_wanted_goes_before_the_study_s_own_and_the_default():
    documents = {"a": {"base": {"slo": {"objective": "success_rate >= 90 %"}}}, "b": {}}

    assert {"a": "success_rate >= 90 %", "b": "every source.success_rate >= 99 %"} == objective_texts(documents, None)
    assert {"a": "retries_mean < 1", "b": "retries_mean < 1"} == objective_texts(documents, "retries_mean < 1")


@pytest.mark.parametrize(
    ("objective", "told"),
    [
        ("marge.success_rate >= 99 %", "nothing is named 'marge'. Did you mean 'merge'?"),
        ("merge.sucess_rate >= 99 %", "'sucess_rate' is no field of a result. Did you mean 'success_rate'?"),
        ("table.1.success_rate >= 99 %", "'table.1.success_rate' is a figure of one table, and a study keeps none"),
    ],
)
def test_an_objective_that_cannot_be_judged_names_the_study_and_the_nearest_names(objective, told):
    with pytest.raises(ConfigError) as caught:
        point_objectives({("s", 0): CONFIG}, {"s": objective})

    assert "Study s: " in str(caught.value)
    assert told in str(caught.value)
