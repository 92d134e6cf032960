"""Recipes: every one loads, uses its parameters, and says where it is written; a source with one can be set.

What a recipe becomes is in ``resolved.txt``, how a bad one is refused in ``refused/recipes.txt``.
"""

import pytest

from endive.config import Recipe, apply_overrides, parse_config, recipes

ALL = [pytest.param(recipe, id=name) for name, recipe in recipes().items()]


def source_of(writer: Recipe, **source):
    document = {"source": [{"name": "mine", **source}]}
    if "one_each" in writer.template.get("tables", {}):
        document["catalog"] = {"num_tables": 40}
    if writer.reads_partitions:
        document["catalog"] = {"partitions": {"enabled": True, "num_partitions": 4}}
    if writer.name.startswith("delta_"):
        document |= {"table": {"format": "delta"}, "delta": {"client": writer.client or "spark"}}
    return parse_config(document).to_dict()["source"][0]


@pytest.mark.parametrize("recipe", ALL)
def test_a_recipe_is_the_same_source_as_its_keys_written_out(recipe):
    source = source_of(recipe, recipe=recipe.name)

    assert source == source_of(recipe, **source)
    assert recipe.sources


@pytest.mark.parametrize("recipe", ALL)
def test_every_parameter_of_a_recipe_is_used_in_its_source(recipe):
    given = {each.name: 12_345 + index for index, each in enumerate(recipe.parameters)}
    shown = str(recipe.expand(given))

    assert [] == [name for name, value in given.items() if str(value) not in shown]


def test_every_recipe_of_an_overwrite_says_what_it_reads_or_that_nothing_is_checked():
    overwrites = [
        each.template for each in recipes().values() if "validated_overwrite" in each.template["operation_types"]
    ]

    assert 12 == len(overwrites)
    unchecked = [each for each in overwrites if "read" not in each and each.get("checks") != "none"]
    assert ["replace_partitions"] == [each["overwrite"] for each in unchecked]


def test_a_source_without_a_name_is_reached_by_that_of_its_recipe():
    document = {"source": [{"recipe": "flink_sink"}, {"recipe": "spark_merge_cow"}]}
    changed = parse_config(apply_overrides(document, {"source.spark_merge_cow.retry": 9}))

    assert [("flink_sink", 4), ("spark_merge_cow", 9)] == [(source.name, source.retry) for source in changed.sources]


def test_a_key_inside_a_table_that_the_recipe_gives_can_be_set():
    document = {"source": [{"name": "mine", "recipe": "spark_rewrite_data_files", "interval_ms": "30min"}]}
    source = parse_config(apply_overrides(document, {"source.mine.arrivals.offset_ms": 5})).to_dict()["source"][0]

    assert {"kind": "periodic", "period_ms": 1_800_000.0, "offset_ms": 5.0, "jitter_ms": 0.0} == source["arrivals"]
