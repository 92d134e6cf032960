"""Levers: each offers another configuration, where it can be had, and none that is there already."""

import pytest
from tests.answers.conftest import busy_config, regular

from endive.answers.advice.levers import HYPOTHETICAL, LEVERS, changes_of
from endive.answers.variation import base_of
from endive.config.reading.format_switch import DELTA


def offered(config, *names, **options):
    found = changes_of(base_of(config), names or None, **options)
    return [(change.lever.name, change.config) for change in found]


def test_every_lever_has_a_name_of_its_own_in_its_format():
    assert len(LEVERS) == len({(lever.name, lever.of) for lever in LEVERS})


def test_every_offer_is_another_configuration():
    found = offered(busy_config(), with_hypothetical=True)
    hashes = [config.config_hash() for _, config in found]

    assert busy_config().config_hash() not in hashes
    assert len(hashes) == len(set(hashes))
    assert {"retries", "backoff", "isolation", "tables", "kept", "store", "catalog"} <= {name for name, _ in found}
    one_table = busy_config(catalog={"type": "service", "latency_ms": 5})
    assert [5_000.0 / 4] == [
        config.sources[0].gather_every_ms for name, config in offered(one_table) if name == "writers"
    ]


def test_what_nobody_can_have_is_tried_only_if_it_is_asked_for_by_name_or_as_such():
    hypothetical = {lever.name for lever in LEVERS if lever.had == HYPOTHETICAL and lever.of != DELTA}

    assert not hypothetical & {name for name, _ in offered(busy_config())}
    assert {"rebasing", "jitter"} <= {name for name, _ in offered(busy_config(), with_hypothetical=True)}
    assert ["rebasing"] == [name for name, _ in offered(busy_config(), "rebasing")]


@pytest.mark.parametrize(("provider", "faster"), [("s3", ["s3x"]), ("azure", ["azurex"]), ("gcp", []), ("s3x", [])])
def test_a_store_of_another_cloud_is_not_offered(provider, faster):
    found = offered(busy_config(storage={"provider": provider}, catalog={"profile": "glue"}), "store")

    assert faster == [config.storage.provider for _, config in found]


def test_only_writers_that_stay_are_offered_to_keep_their_table():
    found = offered(busy_config(), "kept")

    assert [[True, False]] == [[source.keeps_table for source in config.sources] for _, config in found]


def test_a_kept_table_is_not_offered_again():
    assert not offered(base_of(busy_config()).with_values({"source.writers.keeps_table": True}), "kept")


def test_a_compaction_may_run_less_often_and_what_it_defeats_be_shorter_or_run_again():
    compaction = {"name": "compaction", "recipe": "spark_rewrite_data_files", "interval_ms": "30min"}
    merge = {"name": "merge", "recipe": "spark_merge_cow", "working_ms": "20min"}
    config = {"catalog": {"type": "service", "latency_ms": 5}, "source": [merge, compaction]}
    names = ("schedule", "restarts", "shorter")
    found = {name: config.sources for name, config in offered(config, *names)}

    assert names == tuple(found)
    assert 7_200_000.0 == found["schedule"][1].arrivals.period_ms
    assert 600_000.0 == found["shorter"][0].runtime.ms
    assert [3, 0] == [source.application_retries for source in found["restarts"]]


def clocked(merge_period, compaction_period):
    """A MERGE that works from minute 30 to 50, and a compaction that works for ten minutes."""
    merge = {"recipe": "spark_merge_cow", "runtime": "20min"}
    compaction = {"recipe": "spark_rewrite_data_files", "runtime": "10min"}
    merge["arrivals"] = {"kind": "periodic", "period_ms": merge_period, "offset_ms": "30min"}
    compaction["arrivals"] = {"kind": "periodic", "period_ms": compaction_period}
    sources = [{"name": "merge", **merge}, {"name": "compaction", **compaction}]
    return {"catalog": {"type": "service", "latency_ms": 5}, "source": sources}


MIN = 60_000.0


@pytest.mark.parametrize(
    ("periods", "compaction", "merge"),
    [
        (("2h", "1h"), (60 * MIN, 52 * MIN), (120 * MIN, 11 * MIN)),  # each in the gap the other leaves
        (("2h", "20min"), (120 * MIN, 52 * MIN), None),  # no gap between compactions: one for each MERGE
        (("1h", "25min"), (60 * MIN, 52 * MIN), None),  # clocks that drift: the same
        (("25min", "25min"), None, None),  # no time for both
    ],
)
def test_a_job_by_the_clock_may_start_when_another_is_done(periods, compaction, merge):
    found = [config.sources for _, config in offered(clocked(*periods), "shift")]
    before = [source.arrivals for source in base_of(clocked(*periods)).config.sources]
    moved = {}
    for sources in found:
        for place, name in enumerate(("merge", "compaction")):
            if sources[place].arrivals != before[place]:
                moved[name] = (sources[place].arrivals.period_ms, sources[place].arrivals.offset_ms)

    assert (compaction, merge) == (moved.get("compaction"), moved.get("merge"))


def test_partitions_are_offered_finer_where_there_are_some_and_versions_of_them_are_hypothetical():
    split = {"partitions": {"enabled": True, "num_partitions": 16}}
    divided = busy_config(catalog={"type": "service", "latency_ms": 5, **split})

    def tried(config, name):
        return [(each.catalog.scope, each.catalog.partitions.num_partitions) for _, each in offered(config, name)]

    assert [("table", 32)] == tried(divided, "partitions")
    assert not offered(busy_config(catalog={"type": "cas"}), "partitions")
    assert [("partition", 8)] == tried(busy_config(catalog={"type": "cas"}), "versions")


def test_a_job_with_partial_progress_may_use_one_thread_or_make_one_commit():
    compaction = regular("compaction", "1min", "rewrite_files", partial_progress={"commits": 8, "threads": 4})
    tried = [
        config.to_dict()["source"][0]["partial_progress"] for _, config in offered({"source": [compaction]}, "threads")
    ]

    assert [{"commits": 8, "threads": 1}, {"commits": 1, "threads": 1}] == tried


@pytest.mark.parametrize(
    ("read", "has_partitions", "found"),
    [("table", True, ["partitions"]), ("partitions", True, []), ("table", False, [])],
)
def test_a_predicate_is_offered_to_a_statement_that_read_all_of_a_table_with_partitions(read, has_partitions, found):
    partitions = {"partitions": {"enabled": True, "num_partitions": 10}} if has_partitions else {}
    source = regular("merge", "1h", "validated_overwrite", read=read)
    offers = offered({"catalog": {"type": "service", **partitions}, "source": [source]}, "predicate")

    assert found == [config.sources[0].read for _, config in offers]
