"""How much of the commit latency rests on assumed figures."""

import pytest

from endive.results.knowledge import KnownFigure, assumed_part, assumption_warnings, sent_figures


def figure(object, operation, mean_ms, known, phases, of="gcp", source="by Endive: a range"):
    return KnownFigure(
        of=of, object=object, operation=operation, mean_ms=mean_ms, known=known, source=source, phases=frozenset(phases)
    )


LIST_READ = figure("manifest_list", "read", 10.0, "assumed", {"manifest_list", "history"})
LIST_WRITE = figure("manifest_list", "write", 30.0, "measured", {"manifest_list"})
SWAP = figure("catalog", "cas", 50.0, "measured", {"commit"})
COUNTS = {"manifest_list": {"read": 6, "write": 2}, "catalog": {"cas": 2}}
PHASES = {"manifest_list": 80.0, "history": 10.0, "commit": 50.0, "backoff": 60.0, "runtime": 5000.0}


def test_a_phase_is_divided_among_its_requests_by_number_and_mean():
    part = assumed_part([LIST_READ, LIST_WRITE, SWAP], PHASES, COUNTS)

    # 6 x 10 of 6 x 10 + 2 x 30 is half of the phase manifest_list, and the whole of history; of 200 ms in all
    assert part.share == (40.0 + 10.0) / 200.0
    assert part.figures == (LIST_READ,)


def test_without_a_commit_there_is_no_share():
    assert assumed_part([LIST_READ], {"manifest_list": None, "runtime": None}, COUNTS) is None


def test_more_than_a_tenth_is_said_in_one_line():
    assert assumption_warnings([LIST_READ, LIST_WRITE, SWAP], PHASES, COUNTS) == [
        "Assumed figures make up about 25 % of the commit latency: gcp read (by Endive: a range). "
        "Measure them and give your own."
    ]


@pytest.mark.parametrize(("history_ms", "lines"), [(20.0, 0), (21.0, 1)])
def test_a_tenth_and_less_is_not_said(history_ms, lines):
    phases = {"history": history_ms, "commit": 180.0, "runtime": 0.0}

    assert len(assumption_warnings([LIST_READ, SWAP], phases, COUNTS)) == lines


def test_a_given_figure_is_not_assumed():
    given = figure("manifest_list", "read", 10.0, "given", {"history"})

    assert assumed_part([given], {"history": 100.0}, COUNTS).share == 0.0


def test_an_unsaid_catalog_latency_is_said_however_small():
    unsaid = figure("catalog", "cas", 1.0, "assumed", {"commit"}, of="catalog of unsaid latency")

    lines = assumption_warnings([unsaid], {"commit": 1.0, "backoff": 999.0}, COUNTS)

    assert lines == [
        "The catalog's latency is not given, so 1 ms is assumed. Name the service by catalog.profile "
        "(`endive catalogs` lists them), or give catalog.latency."
    ]


def test_figures_of_requests_that_were_not_sent_are_left_out():
    assert sent_figures([LIST_READ, figure("log", "append", 1.0, "measured", set()), SWAP], COUNTS) == (LIST_READ, SWAP)
