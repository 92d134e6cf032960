"""A study: what it expands to."""

import pytest

from endive.config import parse_config
from endive.config.study import load_study, run_identity
from endive.config.study.study_text import study_text


def combinations(study) -> list[tuple]:
    return [tuple(point.values.values()) for point in study.expand()]


# ---- the grid ------------------------------------------------------------------------------------------


GRIDS = {
    "axes are crossed and the last varies fastest": (
        "[axes]\ntransaction.retry = [1, 2]\ncatalog.num_tables = [1, 5, 10]\n",
        [(1, 1), (1, 5), (1, 10), (2, 1), (2, 5), (2, 10)],
    ),
    "linked axes move together": (
        "[axes]\ntransaction.retry = [1, 2]\n"
        "[[linked]]\ncatalog.num_tables = [1, 5]\ncatalog.object_base_bytes = [100, 500]\n",
        [(1, 1, 100), (1, 5, 500), (2, 1, 100), (2, 5, 500)],
    ),
    "points come beside the grid": (
        "[axes]\ntransaction.retry = [1, 2]\n[[point]]\ntransaction.retry = 9\ncatalog.num_tables = 3\n",
        [(1,), (2,), (9, 3)],
    ),
    "a point that repeats one of the grid is the same point": (
        "[axes]\ntransaction.retry = [1, 2]\n[[point]]\ntransaction.retry = 2\n",
        [(1,), (2,)],
    ),
    "a point may give what is derived elsewhere": (
        "[axes]\ncatalog.num_tables = [2]\n[derived]\n'transaction.retry' = 'catalog.num_tables * 2'\n"
        "[[point]]\ncatalog.num_tables = 3\ntransaction.retry = 1\n",
        [(2, 4), (3, 1)],
    ),
    "conditions drop combinations": (
        "[axes]\ntransaction.retry = [1, 2, 3]\ncatalog.num_tables = [1, 2]\n"
        "[[drop]]\nwhen = 'transaction.retry == 3 and catalog.num_tables > 1'\nbecause = 'slow'\n"
        "[[drop]]\nwhen = 'transaction.retry < 2'\n",
        [(2, 1), (2, 2), (3, 1)],
    ),
    "a condition on an axis that a point leaves to the base sees nothing": (
        "[axes]\ncatalog.num_tables = [2]\n[[point]]\ntransaction.retry = 5\n"
        "[[drop]]\nwhen = 'catalog.num_tables == 2'\n",
        [(5,)],
    ),
}


@pytest.mark.parametrize(("text", "expected"), GRIDS.values(), ids=GRIDS)
def test_a_grid_has_these_combinations(study, text, expected):
    found = study(text)

    assert expected == combinations(found)
    assert list(range(len(expected))) == [point.index for point in found.expand()]


def test_a_points_configuration_is_the_base_with_its_values(study):
    point = study("[axes]\ntransaction.retry = [1, 2]\n").expand()[1]

    alone = parse_config({"simulation": {"duration_ms": 60_000, "seed": 7}, "transaction": {"retry": 2}})
    assert point.config == alone
    assert point.config_hash == alone.config_hash()


def test_a_linked_name_says_what_the_values_of_a_key_are(study):
    found = study("[[linked]]\nhow = ['few', 'many']\ntransaction.retry = [1, 9]\n").expand()

    assert [{"how": "few", "transaction.retry": 1}, {"how": "many", "transaction.retry": 9}] == [
        dict(point.values) for point in found
    ]
    assert [1, 9] == [point.config.sources[0].retry for point in found]


def test_points_alone_are_a_grid(study):
    runtime = "{ mean = 5000, sigma = 1.0, min = 0 }"
    points = study(f'[[point]]\ntransaction.retry = 1\n[[point]]\n"transaction.runtime" = {runtime}\n').expand()

    assert points[1].values == {"transaction.runtime": {"mean": 5000, "sigma": 1.0, "min": 0}}
    beside = study("[axes]\ntransaction.retry = [1]\n[[point]]\ntransaction.retry = 9\ncatalog.num_tables = 3\n")
    assert beside.columns == ("transaction.retry", "catalog.num_tables")


def test_derived_values_follow_the_axes_and_each_other(study):
    derived = {"transaction.inter_arrival.scale": "1000 / per_s"}
    derived["transaction.retry"] = "int(transaction.inter_arrival.scale / 100)"
    lines = "".join(f"'{key}' = '{text}'\n" for key, text in derived.items())
    found = study(f"[axes]\nper_s = [1, 4]\n[derived]\n{lines}").expand()

    assert [(1, 1000.0, 10), (4, 250.0, 2)] == [
        tuple(point.values[key] for key in ("per_s", *derived)) for point in found
    ]
    assert [1000.0, 250.0] == [point.config.sources[0].arrivals.mean_ms for point in found]


# ---- seeds and identity --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "count", "expected"),
    [
        ("", None, (7,)),
        ("seeds = 3", None, (7, 8, 9)),
        ("seeds = [5, 1]", None, (5, 1)),
        ("seeds = 3", 2, (7, 8)),
        ("seeds = [5, 1]", 2, (5, 6)),
        ("[study]\nseeds = 2", None, (7, 8)),
    ],
)
def test_seeds_are_a_list_or_begin_with_the_bases_own(study, line, count, expected):
    assert expected == study(f"{line}\n[axes]\ntransaction.retry = [1]\n", seeds=count).seeds


def test_a_run_is_named_by_configuration_seed_and_model_version():
    names = {run_identity(config, seed, model) for config in ("a", "b") for seed in (1, 2) for model in (1, 2)}

    assert len(names) == 8
    assert run_identity("a", 1, 1) == "544362cf709b8ce7"


# ---- base, [set] and --set -----------------------------------------------------------------------------


def test_the_base_may_be_a_file_beside_the_study(tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "base.toml").write_text("[transaction]\nretry = 9\n[storage]\nprovider = 'mine.toml'\n")
    (tmp_path / "s.toml").write_text("base = 'configs/base.toml'\n[axes]\ncatalog.num_tables = [1]\n")

    base = load_study(tmp_path / "s.toml").base
    assert base["transaction"] == {"retry": 9}
    assert base["storage"] == {"provider": str(tmp_path / "configs" / "mine.toml")}


def test_set_changes_the_base_and_the_command_line_changes_it_again(study):
    text = "[axes]\ncatalog.num_tables = [1]\n[set]\ntransaction.retry = 3\ncatalog.object_base_bytes = 9\n"

    base = study(text, "transaction.retry=5").base
    assert (base["transaction"], base["catalog"]) == ({"retry": 5}, {"object_base_bytes": 9})


@pytest.mark.parametrize(
    ("override", "expected"), [("transaction.retry=[5, 6]", [(5,), (6,)]), ("transaction.retry=5", [(5,)])]
)
def test_the_command_line_replaces_the_values_of_an_axis(study, override, expected):
    assert expected == combinations(study("[axes]\ntransaction.retry = [1, 2]\n", override))


@pytest.mark.parametrize(
    "axis",
    [
        "transaction.retry = [1]",
        "source.replay.arrivals.path = ['log.csv']",
        "'source.replay.arrivals' = [{ kind = 'trace', path = 'log.csv' }]",
    ],
)
def test_a_trace_is_found_from_wherever_the_study_is_read(tmp_path, axis):
    (tmp_path / "log.csv").write_text("submit_ms\n0\n")
    (tmp_path / "s.toml").write_text(
        f"[axes]\n{axis}\n[[base.source]]\nname = 'replay'\narrivals = {{ kind = 'trace', path = 'log.csv' }}\n"
    )

    points = load_study(tmp_path / "s.toml").expand()
    assert points[0].config.sources[0].arrivals.path == str(tmp_path / "log.csv")


# ---- the study as text ---------------------------------------------------------------------------------


def test_a_study_written_down_reads_back_as_an_equal_study(study, tmp_path):
    text = """
seeds = [3, 4]
[study]
name = "full"
title = "All of it"
question = "Does \\"everything\\" come back?"
look_for = "equality"
report = { x = "transaction.inter_arrival.scale", series = "load", metrics = ["success_rate"] }
[axes]
transaction.inter_arrival.scale = { log = [10, 1000, 4] }
load = [1, 2]
[[linked]]
catalog.num_tables = [1, 5]
"source.\\"the writers\\".retry" = [1, 2]
[[point]]
catalog.num_tables = 3
load = 9
[derived]
"table.manifest_bytes" = "load * 1000"
[[drop]]
when = "load > 100"
because = "never"
"""
    source = '[[base.source]]\nname = "the writers"\narrivals = { kind = "poisson", mean_ms = 500 }\n'
    found = study(text + source)
    copy = tmp_path / "copy.toml"
    copy.write_text(study_text(found))
    assert load_study(copy) == found
