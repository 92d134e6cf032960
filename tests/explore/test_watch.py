"""The stretch of a run that is shown: around the txn that suffered most, with whoever comes near it."""

from endive.explore.timeline.watch import LANES_MAX, SHOWN_MAX, stretch_around, worst_of


def txn(number, source="stream", *, begin_ms=None, took_ms=100.0, attempts=1, status="committed", client=None):
    begin_ms = 1_000.0 * number if begin_ms is None else begin_ms
    return {
        "txn_id": number,
        "source": source,
        "client": client,
        "submit_ms": begin_ms - 500.0,
        "commit_start_ms": begin_ms,
        "end_ms": begin_ms + took_ms,
        "attempts": attempts,
        "status": status,
    }


def test_the_worst_txn_is_of_the_source_that_loses_most_of_its_txns_and_the_first_with_most_attempts():
    busy = [txn(number, attempts=6) for number in range(200)]
    merge = [txn(number, "merge", attempts=tries, status="aborted") for number, tries in ((200, 4), (201, 5), (202, 5))]

    assert 201 == worst_of([*busy, *merge])["txn_id"]


def test_the_start_of_a_run_is_left_to_settle():
    txns = [txn(0, attempts=9), *(txn(number) for number in range(1, 8)), txn(8, attempts=3)]

    assert 8 == worst_of(txns)["txn_id"]


def test_a_run_in_which_nothing_ended_has_no_worst_txn():
    assert worst_of([{**txn(0), "end_ms": None}]) is None


def test_a_stretch_reaches_a_third_beyond_its_txn_and_holds_writers_that_are_at_work():
    worst = txn(5, begin_ms=10_000.0, took_ms=2_000.0, client=0)
    at_work = txn(6, begin_ms=13_000.0, client=1)
    later = txn(7, begin_ms=13_000.0)

    begin_ms, until_ms, lanes = stretch_around(worst, [worst, at_work, later], ["stream"])

    assert (9_300.0, 12_700.0) == (begin_ms, until_ms)
    assert ["stream 1", "stream 2"] == [lane.label for lane in lanes]


def test_of_many_lanes_those_nearest_to_the_txn_are_kept():
    worst = txn(0, begin_ms=10_000.0, took_ms=5_000.0)
    others = [txn(number, begin_ms=10_000.0 + 10.0 * number, took_ms=5_000.0) for number in range(1, 41)]

    _, _, lanes = stretch_around(worst, [worst, *others], ["stream"])

    assert [[number] for number in range(LANES_MAX)] == [[txn["txn_id"] for txn in lane.txns] for lane in lanes]
    assert "stream 32" == lanes[-1].label


def test_a_stretch_with_too_many_txns_is_cut_short():
    worst = txn(0, "merge", begin_ms=0.0, took_ms=1_000_000.0)
    stream = [txn(number, begin_ms=1_000.0 * number) for number in range(1, 900)]

    _, until_ms, lanes = stretch_around(worst, [worst, *stream], ["merge", "stream"])

    assert 1_000.0 * SHOWN_MAX == until_ms
    assert SHOWN_MAX == sum(len(lane.txns) for lane in lanes)
