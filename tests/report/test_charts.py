"""Which charts a study gets, what they draw, and what is said of those it does not get."""

import json

import pytest
from tests.report.synthetic import SyntheticStudy, section_of

from endive.report.charts.chart import COLOURS, THEME, make_legend
from endive.report.charts.stacks import OTHER, request_colours
from endive.report.report import make_report

CURVES = ("success", "latency-throughput", "throughput", "latency")
INSIDE = ("phases", "requests", "by-operation", "by-source", "attempts", "convoy", "timeline")
ALL = (*CURVES, "phases", "requests", "aborts", "conflicts", *INSIDE[2:])
CONVOY, NO_TXNS = "The convoy: what catching up costs", "the sweep kept no single txns (--detail runs)."


def study_of(folder, axes=None, **options):
    return section_of(folder, SyntheticStudy("study", axes or {"load_per_s": (1, 2, 4)}, **options))


def chart(section, name):
    return next(chart for chart in section.charts if chart.id == name)


def test_a_study_along_a_load_gets_every_chart_but_the_heatmap(report):
    section = report.sections[0]

    assert list(ALL) == [chart.id for chart in section.charts]
    assert ["Two axes at once"] == [omission.title for omission in section.omissions]


@pytest.mark.parametrize(
    ("objective", "first"),
    [("every source.success_rate >= 99 %", "by-source"), ("success_rate >= 99 %", "success")],
    ids=["each source", "all txns"],
)
def test_where_each_source_is_asked_about_the_first_chart_shows_each(tmp_path, objective, first):
    section = study_of(tmp_path, objective=objective)

    assert first == section.charts[0].id


def test_rare_commits_are_drawn_by_the_hour_every_layer_on_one_axis(tmp_path):
    """Vega-Lite joins axes of layers that differ, titles and ticks alike."""
    section = study_of(tmp_path, {"load_per_s": (0.0005, 0.001)}, has_groups=False)
    layers = chart(section, "throughput").variants[0].spec["layer"]
    axes = [layer["encoding"]["y"] for layer in layers]

    assert {"commits (per hour)"} == {axis["title"] for axis in axes}
    assert 1 == len({json.dumps(axis["axis"]) for axis in axes})
    assert [0, 1 / 3600, 2 / 3600, 3 / 3600] == pytest.approx(axes[0]["axis"]["values"])
    assert "offered_per_s" in {axis["field"] for axis in axes}


def test_bands_can_be_standard_deviations(two_protocols):
    deviations, intervals = make_report(two_protocols, bands="stddev"), make_report(two_protocols)
    material = deviations.sections[0].material
    rows = [row for row in material.subject_rows() if row["success_rate"] is not None]

    assert 10 == len(rows)
    lows = [max(0.0, row["success_rate"] - row["success_rate_stddev"]) for row in rows]
    highs = [min(1.0, row["success_rate"] + row["success_rate_stddev"]) for row in rows]
    assert sorted(lows) == sorted(material.values("configurations", "success_rate_ci95_low"))
    assert sorted(highs) == sorted(material.values("configurations", "success_rate_ci95_high"))
    assert "one standard deviation over seeds" in chart(deviations.sections[0], "success").reading
    assert "95 % interval" in chart(intervals.sections[0], "success").reading


def test_two_axes_of_numbers_get_a_heatmap_with_hatched_cells(grid):
    section = make_report(grid).sections[0]
    heatmap = chart(section, "heatmap")

    assert "Offered load and tables" == heatmap.title
    assert '"filter": "datum.missed"' in json.dumps(heatmap.variants[0].spec)
    assert "url(#hatch)" in json.dumps(heatmap.variants[0].spec)


@pytest.mark.parametrize(("loads", "scale"), [((0.5, 1, 2, 4, 8), "log"), ((1, 2, 3, 4, 5), None)])
def test_a_logarithmic_sweep_gets_a_logarithmic_axis_and_an_even_one_a_linear(tmp_path, loads, scale):
    section = study_of(tmp_path, {"load_per_s": loads})
    layers = chart(section, "success").variants[0].spec["layer"]

    assert {scale} == {layer["encoding"]["x"]["scale"].get("type") for layer in layers if "x" in layer["encoding"]}


def test_points_that_miss_the_objective_are_hollow(report):
    for name in CURVES:
        marked = [
            layer["encoding"]["fill"]["condition"]
            for layer in chart(report.sections[0], name).variants[0].spec["layer"]
            if "condition" in layer["encoding"].get("fill", {})
        ]
        assert [{"test": "datum.missed", "value": "var(--paper)"}] == marked


def test_success_below_95_percent_is_written_beside_the_point(report):
    material = report.sections[0].material
    labels = {
        (row["xl"], row["s"]): row["success_label"]
        for row in material.rows("configurations", ())
        if row["success_label"]
    }

    assert {
        ("4", "iceberg"): "75 %",
        ("8", "iceberg"): "38 %",
        ("4", "merge"): "79 %",
        ("8", "merge"): "39 %",
    } == labels


def units(spec):
    """The single marks of a specification that draw the study's own rows."""
    inner = spec.get("spec", spec)
    return [layer for layer in inner.get("layer", [inner]) if "data" not in layer]


def test_every_axis_of_every_chart_has_a_title(grid, report):
    for section in (*report.sections, *make_report(grid).sections):
        for one in section.charts:
            for unit in (unit for variant in one.variants for unit in units(variant.spec)):
                channels = [unit["encoding"][name] for name in ("x", "y") if name in unit["encoding"]]
                titles = [channel.get("title") for channel in channels if "aggregate" not in channel]
                assert titles, one.id
                assert all(titles), one.id


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"detail": "runs"}, dict.fromkeys(("Attempts per txn", "Commits over simulated time", CONVOY), NO_TXNS)),
        (
            {"has_groups": False},
            {
                "By operation type": "every txn has the same operation type.",
                "By source": "every txn has the same source.",
            },
        ),
    ],
)
def test_a_chart_that_is_left_out_says_why(tmp_path, options, expected):
    section = study_of(tmp_path, **options)

    assert expected.items() <= {omission.title: omission.why for omission in section.omissions}.items()


def test_one_configuration_with_one_seed_is_drawn_without_curves(tmp_path):
    section = study_of(tmp_path, {"load_per_s": (1,)}, seeds=1)

    assert list(INSIDE) == [chart.id for chart in section.charts]
    assert "only one configuration was simulated, so there is nothing to draw it along." in {
        omission.why for omission in section.omissions
    }


def test_a_single_seed_has_no_band_and_the_chart_says_so(tmp_path):
    section = study_of(tmp_path, seeds=1)
    success = chart(section, "success")

    assert "there is no interval, because every configuration has a single seed." in success.reading
    assert "area" not in json.dumps(success.variants[0].spec)


def test_names_along_the_page_are_not_joined_by_lines(tmp_path):
    section = study_of(tmp_path, {"storage.provider": ("s3", "gcp", "azure")}, load=None)

    assert '"line"' not in json.dumps(chart(section, "success").variants[0].spec)
    assert "latency-throughput" not in [chart.id for chart in section.charts]


def test_figures_the_study_asks_for_get_a_chart(tmp_path):
    asked = {"metrics": ["success_rate", "commit_latency_p50_ms", "retries_mean", "phase_history_mean_ms"]}
    section = study_of(tmp_path, report=asked)

    assert ["metric-retries_mean", "metric-phase_history_mean_ms"] == [
        chart.id for chart in section.charts if chart.id.startswith("metric-")
    ]
    assert "commit latency P50 (ms)" == chart(section, "latency").variants[0].label

    metric = chart(section, "metric-phase_history_mean_ms")
    assert "Phase history mean against offered load" == metric.title
    rows = section.material.rows("configurations", ())
    assert [pytest.approx(10 * (1 + load / 3)) for load in (1, 2, 4)] == [row["phase_history_mean_ms"] for row in rows]


def test_phases_leave_the_txns_own_work_out(report):
    rows = report.sections[0].material.rows("phases", ())

    assert {"table metadata", "manifest list", "commit request", "backoff"} == {row["phase_name"] for row in rows}


def test_attempts_are_shares_of_all_that_ended(report):
    rows = report.sections[0].material.rows("attempts", ())
    at_4 = {(row["bin"], row["outcome"]): row["share"] for row in rows if (row["xl"], row["s"]) == ("4", "iceberg")}

    assert {("1", "committed"): 0.375, ("2", "committed"): 0.375, ("4\u20135", "aborted"): 0.25} == at_4


def test_too_many_bins_of_time_are_joined(tmp_path, monkeypatch):
    from endive.report.charts import spread

    monkeypatch.setattr(spread, "TIMELINE_ROWS_MAX", 100)
    section = study_of(tmp_path)

    rows = section.material.rows("timeline", ())
    assert 3 * 30 == len(rows)
    assert (0.0, 40.0) == (rows[0]["time_s"], rows[0]["end_s"])
    assert "2 bins of the analysis are one here." in chart(section, "timeline").reading


def test_the_first_selection_is_the_first_load_that_is_too_much(report):
    assert "4" == report.sections[0].material.selection["load_per_s"]


def test_series_differ_in_colour_dash_and_shape():
    looks = make_legend("s", "", [str(number) for number in range(16)], with_shapes=True).marks

    assert 16 == len({(mark.colour, mark.dash, mark.shape) for mark in looks})
    assert COLOURS == len({mark.colour for mark in looks})
    assert {mark.colour for mark in looks} <= {f"var({name})" for name in THEME}


def test_every_chart_has_words_for_those_who_do_not_see_it(report):
    for one in report.sections[0].charts:
        assert any(character.isdigit() for character in one.alt), f"{one.id}: {one.alt}"
        assert one.alt.endswith(".")


def requested(**per_commit: float) -> list[dict[str, object]]:
    """Rows of requests: ``requested(catalog__cas=1)``."""
    return [
        {"object": name.partition("__")[0], "operation": name.partition("__")[2], "per_committed_txn": count}
        for name, count in per_commit.items()
    ]


def test_a_usual_request_has_the_same_colour_whatever_else_is_drawn():
    alone = request_colours(requested(manifest__read=1))
    beside = request_colours(requested(catalog__cas=3, log__head=9, manifest__read=1, manifest_list__delete=2))

    assert "manifest: read" == alone[2] == beside[2]


def test_of_two_requests_that_share_a_colour_the_rarer_takes_a_free_one_or_is_told_with_the_others():
    usual = {"manifest_list__read": 9, "manifest_list__write": 2, "manifest__read": 5, "manifest__write": 1}
    usual |= {"metadata__read": 1, "metadata__write": 2, "catalog__read": 2, "catalog__cas": 2}

    with_heads = request_colours(requested(**usual, manifest_list__head=9))
    with_more = request_colours(requested(**usual, manifest_list__head=9, manifest__delete=0.5))

    assert ("manifest list: head", "manifest: write") == (with_heads[3], with_heads[8])
    assert ("manifest list: head", OTHER) == (with_more[3], with_more[8])
