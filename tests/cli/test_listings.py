"""``endive providers``, ``catalogs`` and ``recipes``: what there is, how well it is known and where it comes from."""

import json
import tomllib

import pytest

from endive.config import recipes
from endive.config.catalog_profile import CATALOGS, catalog_profile
from endive.storage import list_profiles, load_profile


def rows_of(answer) -> dict[str, list[str]]:
    """The words of every line, by its first."""
    assert answer.exit_code == 0
    return {line.split()[0]: line.split() for line in answer.stdout.splitlines() if line.strip()}


@pytest.mark.parametrize(
    ("command", "names"), [("providers", list_profiles()), ("catalogs", CATALOGS), ("recipes", recipes())]
)
def test_a_list_names_everything_also_as_json(endive, command, names):
    shown = rows_of(endive(command))

    assert list(names) == [name for name in shown if name in names]
    assert list(names) == list(json.loads(endive(command, "--json").stdout))


def test_providers_are_listed_with_medians_and_figures_that_nobody_measured_are_marked(endive):
    rows = rows_of(endive("providers"))
    s3 = load_profile("s3")

    assert [f"{s3.latency(0, op).quantile(0.5):,.1f}" for op in range(3)] == rows["s3"][-5:-2]
    assert ["-", "-"] == rows["s3"][-2:]
    assert ["200.0?", "200.0?", "179.3"] == rows["gcp"][-5:-2]
    assert "measured, unless marked: * published, ? assumed" == " ".join(rows["measured,"])


def test_one_provider_shows_every_figure_with_its_source(endive):
    text = " ".join(endive("providers", "s3x").stdout.split())

    for operation, *_ in load_profile("s3x").describe():
        assert operation in text
    assert "HEAD before reading: manifest_list" in text
    assert "assumed size_based" in text
    assert "by Endive: derived from S3's PUT and the ratio of the GETs" in text
    assert "price of read: 0.00003 USD per 1,000 (by Amazon, S3 FAQ" in text


def test_json_of_one_provider_is_its_profile_and_the_vintage_chooses_the_figures(endive):
    gcp = json.loads(endive("providers", "gcp", "--json").stdout)
    s3 = json.loads(endive("providers", "s3", "--json", "--vintage", "original").stdout)

    assert ("gcp", ["read", "write", "cas", "create"], 0.0) == tuple(
        gcp[key] for key in ("name", "capabilities", "writes_per_s_max")
    )
    assert [row[-1] for row in load_profile("gcp").describe()] == [figure["source"] for figure in gcp["figures"]]
    assert ("original", load_profile("s3", "original").describe()[0][2]) == (s3["vintage"], s3["figures"][0]["p50_ms"])


def test_catalogs_say_how_well_they_are_known(endive):
    rows, document = rows_of(endive("catalogs")), json.loads(endive("catalogs", "--json").stdout)

    assert ["pointer", "141", "199", "230", "published"] == rows["glue"][1:6]
    assert ["pointer", "5.0", "11.4", "16.0", "assumed"] == rows["jdbc"][1:6]
    assert {"distribution": "lognormal", "median_ms": 7.2, "sigma": 0.41} == document["polaris"]["latency"]
    assert 7.2 == pytest.approx(document["polaris"]["p50_ms"])
    assert {"published", "assumed"} == {profile["known"] for profile in document.values()}
    assert catalog_profile("hive").source == document["hive"]["source"]


def test_one_recipe_prints_a_source_that_loads(endive):
    text = endive("recipes", "spark_merge_cow").stdout

    shown = tomllib.loads(text.split("it means:")[1])["source"][0]
    assert recipes()["spark_merge_cow"].expand({"name": "mine"}) == shown
    assert "SparkWrite.CopyOnWriteOperation" in text


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("providers", "s4"), "error: provider 's4' is unknown"),
        (
            ("recipes", "flinksink"),
            "error: no recipe is called 'flinksink'. Did you mean 'flink_sink'? Choose one of: ",
        ),
    ],
)
def test_an_unknown_name_is_an_error_that_names_the_known_ones(endive, command, told):
    answer = endive(*command)

    assert (2, True) == (answer.exit_code, answer.stderr.startswith(told))
    assert "flink_sink, " in answer.stderr or "s3, s3x, azure" in answer.stderr
