"""Load on real Iceberg: how the requests of a run are sorted."""

from rigs.java.load_stage import _txn, finished, quantiles
from rigs.java.object_server import LoggedRequest
from verification.recordings import QUANTILES
from verification.suites.load.cells import DELAYS_MS

RETRIED_TXN = (  # method, object, milliseconds until its answer since the one before
    ("GET", "metadata", 25),
    ("PUT", "manifest", 40),
    ("HEAD", "manifest_list", 21),
    ("GET", "manifest_list", 22),
    ("PUT", "manifest_list", 45),
    ("PUT", "metadata", 36),
    ("GET", "metadata", 127),  # behind a pause
    ("HEAD", "manifest_list", 14),
    ("GET", "manifest_list", 22),
    ("PUT", "manifest_list", 34),
    ("PUT", "metadata", 33),
    ("DELETE", "manifest_list", 24),
    ("GET", "metadata", 23),
)


def logged_run():
    """One txn of one writer: loaded, refused once, committed."""
    log, now_s = [], 0.0
    for method, kind, taken_ms in RETRIED_TXN:
        begin_s = now_s + taken_ms / 1000.0 - DELAYS_MS[method] / 1000.0
        now_s += taken_ms / 1000.0
        log.append(LoggedRequest("writer0", method, kind, "", begin_s, now_s, 200))
    txn = _txn(0, 0.0, (0.0, 0.025, 0.026), True)
    return finished([[txn]], log, 0.0, 30.0)


def test_a_request_is_sorted_by_where_in_the_life_of_its_txn_it_was_sent():
    beyond = {label: [round(ms, 6) for ms in values] for label, values in logged_run().beyond_ms.items()}

    assert {
        "first PUT manifest": [10.0],
        "first HEAD manifest_list": [11.0],
        "first GET manifest_list": [2.0],
        "first PUT manifest_list": [15.0],
        "first PUT metadata": [6.0],
        "retry HEAD manifest_list": [4.0],
        "retry GET manifest_list": [2.0],
        "retry PUT manifest_list": [4.0],
        "retry PUT metadata": [3.0],
        "swap DELETE manifest_list": [4.0],
        "after GET metadata": [3.0],
    } == beyond


def test_attempts_are_the_manifest_lists_written():
    assert [2] == [txn.attempts for txn in logged_run().txns]


def test_quantiles_begin_with_count_and_mean():
    found = quantiles([4.0, 1.0, 2.0, 3.0, 5.0])

    assert [5, 3.0, 1.0] == found[:3]
    assert 5.0 == found[-1]
    assert 2 + len(QUANTILES) == len(found)
