"""Twice the writers: which sources are copied, which have more clients."""

import pytest

from endive.errors import ConfigError
from endive.observation.replay.replay import scale_writers


def sources(*arrivals):
    return {"source": [{"name": f"s{index}", "arrivals": each} for index, each in enumerate(arrivals)]}


def test_clients_are_multiplied_and_clocks_are_copied_out_of_step():
    document = sources({"kind": "closed", "clients": 3}, {"kind": "periodic", "period_ms": 1000.0})

    assert [
        ("s0", {"kind": "closed", "clients": 6}),
        ("s1", {"kind": "periodic", "period_ms": 1000.0}),
        ("s1~2", {"kind": "periodic", "period_ms": 1000.0, "offset_ms": 500.0}),
    ] == [(each["name"], each["arrivals"]) for each in scale_writers(document, 2.0)["source"]]


def test_half_a_writer_submits_half_as_often():
    found = scale_writers(sources({"kind": "poisson", "mean_ms": 10.0}), 1.5)["source"]

    assert [10.0, 20.0] == [each["arrivals"]["mean_ms"] for each in found]


def test_a_scale_out_of_range_is_refused():
    with pytest.raises(ConfigError, match=r"--scale 0 is not allowed. Give a number from 0.01 to 1000."):
        scale_writers(sources(), 0.0)
