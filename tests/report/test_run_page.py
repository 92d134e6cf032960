"""The page of one run: its charts show the txns that its table counts."""

import pyarrow as pa

from endive.report.charts.run_chart import attempt_spec
from endive.report.run_page import in_window


def test_txns_of_warm_up_and_cool_down_do_not_count():
    txns = pa.table({"submit_ms": [0.0, 4.999, 5.0, 9.999, 10.0]})

    assert [5.0, 9.999] == in_window(txns, {"start_ms": 5.0, "end_ms": 10.0})["submit_ms"].to_pylist()


def test_an_outcome_has_its_colour_whichever_others_there_are():
    txns = pa.table({"source": ["merge"], "status": ["aborted"], "attempts": [1]})
    colour = attempt_spec(txns, ["merge"])["encoding"]["color"]

    assert {"committed": "var(--c0)", "aborted": "var(--c1)"} == dict(
        zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True)
    )
