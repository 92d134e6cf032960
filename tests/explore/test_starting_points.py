"""Where a session can begin, and the controls each start has."""

from endive.config import load_simulation_config
from endive.explore.controls import all_keys, controls_of
from endive.explore.starting_points import all_starts, start_of


def test_every_experiment_and_recipe_is_a_start_with_controls(experiments, monkeypatch):
    monkeypatch.chdir(experiments.parent)

    found = all_starts(experiments / "quickstart.toml")

    assert "file/quickstart" == next(iter(found))
    assert {"questions/nightly_merge", "recipe/flink_sink", "mixed/overwrites"} <= found.keys()
    for start in found.values():
        assert controls_of(start.base), start.id


def test_a_start_means_what_its_file_means(experiments):
    for name in ("quickstart", "questions/nightly_merge", "questions/rest_catalog"):
        start = start_of(experiments / f"{name}.toml", group="")

        assert load_simulation_config(experiments / f"{name}.toml").config_hash() == start.base.config.config_hash()


def test_the_title_of_a_start_is_the_first_sentence_of_its_file_however_many_lines_it_has(tmp_path):
    file = tmp_path / "long.toml"
    comment = (
        "#:schema ../../docs/reference/configuration.schema.json",
        '# A compaction fails with "Cannot determine history ... and the last known',
        '# ancestor ..." (#13972). It works for',
        "# an hour.",
        "#",
        "# Run it.",
    )
    keys = ('storage = { provider = "s3" }', 'catalog = { type = "cas" }', "[[source]]", 'name = "writers"')
    rest = ('arrivals = { kind = "poisson", per_s = 1 }', 'runtime = { distribution = "fixed", ms = 1 }')
    file.write_text("\n".join((*comment, *keys, *rest)))

    start = start_of(file, group="")

    title = 'A compaction fails with "Cannot determine history ... and the last known ancestor ..." (#13972)'
    assert title == start.title
    assert "It works for an hour." == start.about


def test_the_controls_of_a_nightly_merge_are_those_that_decide_it(experiments):
    start = start_of(experiments / "questions" / "nightly_merge.toml", group="")

    keys = [control.key for control in controls_of(start.base)]

    assert "source.streams.arrivals.clients" == keys[0]
    of_merge = ("arrivals.period_ms", "runtime.ms", "retry", "retry_backoff.policy", "isolation")
    of_catalog = ("type", "latency.median_ms", "num_tables", "partitions.num_partitions")
    expected = {f"source.merge.{key}" for key in of_merge} | {f"catalog.{key}" for key in of_catalog}
    assert expected | {"storage.provider", "slo.objective", "simulation.duration_ms"} <= set(keys)


def test_a_table_is_offered_the_commit_points_of_its_own_format(experiments):
    iceberg = start_of(experiments / "questions" / "nightly_merge.toml", group="").base

    offered = {
        base.config.table.format: {control.key: set(control.choices) for control in controls_of(base)}
        for base in (iceberg, iceberg.varied({"table.format": "delta"}))
    }

    assert {"cas", "append", "instant", "service"} == offered["iceberg"]["catalog.type"]
    assert {"put_if_absent", "single_driver", "dynamodb", "service"} == offered["delta"]["catalog.type"]
    assert "catalog.scope" not in offered["delta"]


def test_every_control_of_a_declared_key_has_its_documentation(experiments):
    start = start_of(experiments / "questions" / "nightly_merge.toml", group="")

    assert [] == [control.key for control in controls_of(start.base) if not control.meaning]


def test_search_knows_every_key_of_the_schema():
    keys = {row[0] for row in all_keys()}

    assert {"commit.protocol", "source.<name>.isolation", "table.snapshots_kept_max", "source.<name>.arrivals"} <= keys
