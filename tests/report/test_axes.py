"""Which axis goes where, and how its values are shown."""

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.report.axes import choose_layout, is_log_spaced, make_axis
from endive.report.reading import open_analysis


def layout_of(folder, axes, **options):
    write_synthetic(folder, SyntheticStudy("study", axes, **options))
    return choose_layout(open_analysis(folder).studies[0])


def keys(layout):
    roles = (layout.x, layout.series, layout.panel)
    return [axis and axis.key for axis in roles], [axis.key for axis in layout.others]


@pytest.mark.parametrize(
    ("values", "is_log"),
    [
        ((0.5, 1, 2, 4, 8), True),
        ((10, 20, 50, 100, 200, 500, 1000), True),
        ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10), False),
        ((1, 5, 9), False),
        ((0, 1, 10, 100), False),
        ((1, 100), False),
    ],
)
def test_values_that_grow_by_factors_belong_on_a_logarithmic_axis(values, is_log):
    assert is_log == is_log_spaced(values)


LOAD, TABLES, STORES = {"load_per_s": (1, 2)}, {"catalog.num_tables": (1, 2, 5)}, {"storage.provider": ("s3", "gcp")}
FOUR = {**LOAD, **STORES, "commit.protocol": ("iceberg", "merge"), "catalog.type": ("cas", "append")}
ASKED = {"x": "catalog.num_tables", "series": "storage.provider", "panel": "load_per_s"}
LAYOUTS = {
    "as the study file asks": ({**LOAD, **TABLES, **STORES}, ASKED, list(ASKED.values()), []),
    "the load along the page, names as colours": (
        {**TABLES, **LOAD, **STORES},
        None,
        ["load_per_s", "storage.provider", "catalog.num_tables"],
        [],
    ),
    "a selector for what finds no place": (
        FOUR,
        None,
        ["load_per_s", "storage.provider", "commit.protocol"],
        ["catalog.type"],
    ),
    "no place for an axis of one value": ({"load_per_s": (1,), "storage.provider": ("s3",)}, None, [None] * 3, []),
}


@pytest.mark.parametrize(("axes", "asked", "roles", "others"), LAYOUTS.values(), ids=LAYOUTS)
def test_axes_have_these_places(tmp_path, axes, asked, roles, others):
    assert (roles, others) == keys(layout_of(tmp_path, axes, report=asked))


def test_an_axis_that_another_decides_has_no_place(tmp_path):
    study = SyntheticStudy("study", {"load_per_s": (1, 2, 4), "transaction.retry": (4, 10)})
    for point in study.points:
        point["derived.scale_ms"] = 1000 / point["load_per_s"]
        point["linked"] = "few" if point["transaction.retry"] == 4 else "many"
    study.axes["derived.scale_ms"] = [1000, 500, 250]
    study.axes["linked"] = ["few", "many"]
    write_synthetic(tmp_path, study)

    roles, others = keys(choose_layout(open_analysis(tmp_path).studies[0]))

    assert ["load_per_s", "linked", None] == roles
    assert [] == others


def test_a_time_between_arrivals_is_shown_as_a_rate_that_rises():
    axis = make_axis("transaction.inter_arrival.scale", [1000, 250, 500])

    assert ("offered load (txns/s)", ("1", "2", "4"), (1.0, 2.0, 4.0)) == (axis.title, axis.labels, axis.numbers)
    assert "2" == axis.label(500)


def test_labels_that_rounding_would_make_equal_stay_apart():
    assert ("0.123456", "0.123457") == make_axis("x", [0.123456, 0.123457]).labels


def test_names_keep_the_order_of_the_study():
    assert ("S3", "Azure", "Google Cloud") == make_axis("storage.provider", ["s3", "azure", "gcp", "s3"]).labels


def test_a_value_the_base_decides_has_a_label():
    assert ("as in the base", "4") == make_axis("transaction.retry", [None, 4]).labels


@pytest.mark.parametrize(
    ("key", "values_ms", "title", "labels"),
    [
        ("source.merge.runtime.ms", [1_800_000.0, 60_000.0], "runtime of merge (min)", ("1", "30")),
        ("source.streams.trigger_interval_ms", [30_000, 60_000], "trigger interval of streams (s)", ("30", "60")),
        ("simulation.duration_ms", [7_200_000, 86_400_000], "duration (h)", ("2", "24")),
        ("catalog.latency_ms", [2.5, 1_000], "latency (ms)", ("2.5", "1000")),
    ],
)
def test_times_have_the_largest_unit_in_which_they_are_whole(key, values_ms, title, labels):
    axis = make_axis(key, values_ms)

    assert (title, labels) == (axis.title, axis.labels)
    assert labels[0] == axis.label(min(values_ms))
