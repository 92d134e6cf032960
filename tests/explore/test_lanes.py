"""Lanes of a timeline: a writer keeps its own, txns of other sources share theirs unless they overlap."""

from endive.explore.timeline.watch import lanes_of


def txn(number, source, begin_ms, end_ms, client=None):
    return {"txn_id": number, "source": source, "client": client, "commit_start_ms": begin_ms, "end_ms": end_ms}


def placed(txns, sources=("writers", "stream")):
    return {lane.label: [txn["txn_id"] for txn in lane.txns] for lane in lanes_of(txns, sources)}


def test_a_writer_keeps_its_lane_and_lanes_are_in_the_order_of_writers():
    txns = [txn(0, "writers", 0, 9, client=11), txn(1, "writers", 5, 8, client=2), txn(2, "writers", 20, 30, client=11)]

    assert {"writers 3": [1], "writers 12": [0, 2]} == placed(txns)
    assert ["writers 3", "writers 12"] == list(placed(txns))


def test_txns_of_an_open_source_take_a_second_lane_only_while_they_overlap():
    txns = [txn(0, "stream", 0, 10), txn(1, "stream", 4, 12), txn(2, "stream", 10, 20), txn(3, "stream", 11, 15)]

    assert {"stream": [0, 2], "stream 2": [1], "stream 3": [3]} == placed(txns)


def test_a_txn_that_never_ends_keeps_its_lane_for_good():
    txns = [txn(0, "stream", 0, None), txn(1, "stream", 1_000_000, 1_000_001)]

    assert {"stream": [0], "stream 2": [1]} == placed(txns)


def test_sources_stand_in_the_order_of_the_configuration():
    txns = [txn(0, "stream", 0, 1), txn(1, "writers", 5, 6, client=0)]

    assert ["writers 1", "stream"] == list(placed(txns))
