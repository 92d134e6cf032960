"""The fields of an objective are those of a run's summary."""

import numpy as np

from endive.objectives import FIELDS
from endive.results import Statistics, Window, summarise
from endive.results.columns import N_ROW, columns_of


def leaves(block, prefix=()):
    for key, value in block.items():
        if isinstance(value, dict):
            yield from leaves(value, (*prefix, key))
        else:
            yield (*prefix, key)


def test_every_figure_of_the_summary_is_a_field_and_every_field_a_figure():
    window = Window.of_ms(duration_ms=4.0, warmup_ms=1.0, cooldown_ms=1.0)
    statistics = Statistics(window, ["a"])
    statistics.record(columns_of(np.empty((0, N_ROW), np.int64), np.empty(0, np.int64)))
    document = summarise(statistics)
    requests = {key: document["requests"][key] for key in ("per_committed_txn", "total", "bytes_read", "bytes_written")}
    figures = set(leaves({**document["summary"], "requests": requests}))

    unasked = {path for path in figures if path == ("saturated",) or path[0] == "halves"}  # verdicts, and for drift
    assert figures - unasked == {field.path for field in FIELDS}
