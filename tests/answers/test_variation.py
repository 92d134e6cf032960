"""A configuration with one of its numbers varied."""

from endive.answers.variation import base_of


def test_a_parameter_of_a_recipe_can_be_varied_as_it_was_written_or_as_it_is_by_default():
    base = base_of({"source": [{"recipe": "flink_sink", "jobs": 7}]})

    assert 7 == base.value_of("source.flink_sink.jobs")
    assert 60_000 == base.value_of("source.flink_sink.checkpoint_interval_ms")
    assert 9 == base.varied({"source.flink_sink.jobs": 9}).config.to_dict()["source"][0]["arrivals"]["jobs"]
