"""``endive providers``: the figures and where they come from."""

import json

from endive.storage import list_profiles, load_profile


def test_every_provider_is_listed_with_its_medians(endive):
    answer = endive("providers")

    rows = [line.split() for line in answer.stdout.splitlines() if line.strip()]
    assert answer.exit_code == 0
    assert [row[0] for row in rows[3:-1]] == list(list_profiles())
    s3 = load_profile("s3")
    medians = [f"{s3.latency(0, op).quantile(0.5):,.1f}" for op in range(3)]
    assert next(row for row in rows if row[0] == "s3")[-5:] == [*medians, "-", "-"]


def test_figures_that_nobody_measured_are_marked_in_the_list(endive):
    answer = endive("providers")

    gcp = next(line.split() for line in answer.stdout.splitlines() if line.lstrip().startswith("gcp"))
    assert gcp[-5:-2] == ["200.0?", "200.0?", "179.3"]
    assert answer.stdout.rstrip().endswith("measured, unless marked: * published, ? assumed")


def test_one_provider_shows_every_figure_with_its_source(endive):
    answer = endive("providers", "s3x")

    text = " ".join(answer.stdout.split())
    assert answer.exit_code == 0
    for operation, *_ in load_profile("s3x").describe():
        assert operation in text
    assert "HEAD before reading: manifest_list" in text
    assert "assumed size_based" in text
    assert "by Endive: derived from S3's PUT and the ratio of the GETs" in text
    assert "price of read: 0.00003 USD per 1,000 (by Amazon, S3 FAQ" in text


def test_json_of_one_provider_is_its_profile(endive):
    document = json.loads(endive("providers", "gcp", "--json").stdout)

    assert document["name"] == "gcp"
    assert document["capabilities"] == ["read", "write", "cas", "create"]
    assert document["writes_per_s_max"] == 0.0
    assert [figure["source"] for figure in document["figures"]] == [row[-1] for row in load_profile("gcp").describe()]


def test_json_of_all_is_an_object_by_name(endive):
    document = json.loads(endive("providers", "--json").stdout)

    assert list(document) == list(list_profiles())


def test_the_vintage_chooses_the_figures(endive):
    document = json.loads(endive("providers", "s3", "--json", "--vintage", "original").stdout)

    assert document["vintage"] == "original"
    assert document["figures"][0]["p50_ms"] == load_profile("s3", "original").describe()[0][2]


def test_an_unknown_provider_is_an_error_that_names_the_known_ones(endive):
    answer = endive("providers", "s4")

    assert answer.exit_code == 2
    assert answer.stderr.startswith("error: provider 's4' is unknown")
    assert "s3, s3x, azure" in answer.stderr
