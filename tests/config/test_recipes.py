"""A source may name a recipe: what it becomes, and how a bad one is refused."""

import pytest

from endive.config import apply_overrides, parse_config, recipes
from endive.errors import ConfigError

NAMES = (
    "delta_rs_append",
    "delta_spark_merge",
    "delta_spark_merge_by_partition",
    "delta_spark_optimize",
    "delta_spark_streaming",
    "expire_snapshots",
    "flink_sink",
    "flink_upsert",
    "kafka_connect_deltas",
    "kafka_connect_sink",
    "pyiceberg_append",
    "spark_delete_mor",
    "spark_merge_cow",
    "spark_merge_cow_by_partition",
    "spark_merge_mor",
    "spark_merge_mor_by_partition",
    "spark_rewrite_data_files",
    "spark_rewrite_data_files_partial",
    "spark_streaming",
    "spark_update_cow",
    "spark_update_mor",
    "trino_insert",
    "trino_merge",
    "trino_optimize",
)


def source_of(**keys):
    document = {"source": [{"name": "mine", **keys}]}
    if keys.get("recipe") in recipes() and recipes()[keys["recipe"]].reads_partitions:
        document["catalog"] = {"partitions": {"enabled": True, "num_partitions": 4}}
    if str(keys.get("recipe")).startswith("delta_"):
        document["table"] = {"format": "delta"}
    if keys.get("recipe") == "delta_rs_append":
        document["delta"] = {"client": "delta_rs"}
    return parse_config(document).to_dict()["source"][0]


def problems_of(**keys) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as error:
        source_of(**keys)
    return error.value.problems


def test_a_recipe_fills_in_what_the_writer_does():
    assert {
        "arrivals": {"kind": "jobs", "jobs": 3, "period_ms": 30_000.0, "phase": "random", "jitter_ms": 0.0},
        "keeps_table": True,
        "operation_types": {"merge_append": 1.0},
        "runtime": {"distribution": "fixed", "ms": 1000.0},
        "retry": 4,
    }.items() <= source_of(recipe="flink_sink", checkpoint_interval_ms=30_000, jobs=3).items()


def test_a_writer_of_delta_rs_is_not_simulated_as_delta_spark():
    document = {"table": {"format": "delta"}, "source": [{"name": "mine", "recipe": "delta_rs_append"}]}

    with pytest.raises(ConfigError) as error:
        parse_config(document)

    assert (
        "source.mine.recipe = 'delta_rs_append' commits as delta_rs does, and delta.client is 'spark'. "
        "Set delta.client = 'delta_rs'.",
    ) == error.value.problems


@pytest.mark.parametrize("name", ["flink_sink", "flink_upsert", "spark_streaming", "delta_spark_streaming"])
def test_a_stream_whose_job_restarts_loses_nothing(name):
    kept = source_of(recipe=name, restart_ms="2min")["after_failure"]

    assert {"kind": "restart", "delay_ms": 120_000.0, "unknown": "checked"} == kept
    assert source_of(recipe=name, after_failure="carried")["after_failure"]["kind"] == "carried"


def test_a_recipe_is_the_same_source_as_its_keys_written_out():
    written = {key: value for key, value in source_of(recipe="spark_merge_mor").items() if key != "name"}

    assert source_of(recipe="spark_merge_mor") == source_of(**written)


def test_times_may_be_written_as_text():
    as_text = source_of(recipe="spark_merge_cow", interval_ms="1h", working_ms="20min")

    assert as_text == source_of(recipe="spark_merge_cow", interval_ms=3_600_000, working_ms=1_200_000)
    assert as_text["runtime"] == source_of(recipe="spark_merge_cow", runtime="20min")["runtime"]


def test_what_the_source_says_itself_wins():
    source = source_of(recipe="spark_streaming", retry=9, operation_types={"merge_append": 1.0})

    assert (9, {"merge_append": 1.0}) == (source["retry"], source["operation_types"])


def test_all_recipes_are_there_and_every_one_loads():
    assert NAMES == tuple(recipes())
    for name in NAMES:
        assert "mine" == source_of(recipe=name)["name"]


def test_every_parameter_of_every_recipe_is_used_in_its_source():
    for recipe in recipes().values():
        given = {each.name: 12_345 + index for index, each in enumerate(recipe.parameters)}
        shown = str(recipe.expand(given))
        assert [] == [name for name, value in given.items() if str(value) not in shown], recipe.name


def test_every_recipe_of_an_overwrite_says_what_it_reads_or_that_nothing_is_checked():
    overwrites = [
        each.template for each in recipes().values() if "validated_overwrite" in each.template["operation_types"]
    ]

    assert 10 == len(overwrites)
    assert [] == [each for each in overwrites if "read" not in each and each.get("checks") != "none"]


def test_a_predicate_on_partitions_of_a_table_that_has_none_is_refused():
    with pytest.raises(ConfigError, match=r"read = 'partitions' needs partitions, and the table has none"):
        parse_config({"source": [{"name": "mine", "recipe": "spark_update_mor"}]})


def test_every_recipe_says_where_it_is_written():
    assert dict.fromkeys(NAMES, True) == {name: len(each.sources) > 0 for name, each in recipes().items()}


def test_an_unknown_recipe_is_refused_once_and_a_bad_parameter_by_its_name():
    names = ", ".join(NAMES)

    assert (
        f"source.mine.recipe = 'flink_sin' is not known. Did you mean 'flink_sink'? Choose one of: {names}.",
    ) == problems_of(recipe="flink_sin")
    assert (
        "source.mine.clients = 1.5 must be a whole number. Processes that append.",
        "source.mine.pause_ms = -1 must be a number greater than 0, or a duration as text, such as '250ms', '90s', "
        "'5min' or '1h30min'. Time from the end of an append to the next.",
    ) == problems_of(recipe="pyiceberg_append", clients=1.5, pause_ms=-1)


def test_a_parameter_of_another_recipe_is_not_known():
    (problem,) = problems_of(recipe="spark_streaming", checkpoint_interval_ms=1000)

    assert problem.startswith("source.mine.checkpoint_interval_ms is not known.")


def test_a_misspelt_parameter_is_told_by_what_was_meant():
    assert (
        "source.mine.interval is not known. Did you mean 'interval_ms', a parameter of 'spark_merge_cow'?",
        "source.mine.work_ms is not known. Did you mean 'working_ms', a parameter of 'spark_merge_cow'?",
    ) == problems_of(recipe="spark_merge_cow", interval="1h", work_ms=1)


def test_a_source_without_a_name_is_called_as_its_recipe_and_reached_by_that_name():
    document = {"source": [{"recipe": "flink_sink"}, {"recipe": "spark_merge_cow"}]}
    changed = parse_config(apply_overrides(document, {"source.spark_merge_cow.retry": 9}))

    assert [("flink_sink", 4), ("spark_merge_cow", 9)] == [(source.name, source.retry) for source in changed.sources]
    with pytest.raises(ConfigError, match=r"source\.flink_sink\.jobs = 0 must be"):
        parse_config(apply_overrides(document, {"source.flink_sink.jobs": 0}))


def test_two_sources_of_one_recipe_need_names():
    with pytest.raises(ConfigError, match="Give each source a name of its own"):
        parse_config({"source": [{"recipe": "flink_sink"}, {"recipe": "flink_sink"}]})


def test_a_key_inside_a_table_that_the_recipe_gives_can_be_set():
    document = {"source": [{"name": "mine", "recipe": "spark_rewrite_data_files", "interval_ms": "30min"}]}
    source = parse_config(apply_overrides(document, {"source.mine.arrivals.offset_ms": 5})).to_dict()["source"][0]

    assert {"kind": "periodic", "period_ms": 1_800_000.0, "offset_ms": 5.0, "jitter_ms": 0.0} == source["arrivals"]
