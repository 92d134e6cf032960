"""Prices come from the profile, or not at all."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.report.report import make_report

PROFILE = "\n".join(
    [
        'title = "A store with prices"\ncapabilities = ["read", "write", "cas"]',
        *(
            f'[latency.{operation}]\ndistribution = "fixed"\nms = 10.0\nsource = "made up"'
            for operation in ("read", "write", "cas.success")
        ),
        *(
            f'[prices.{operation}]\nusd_per_1000 = {usd}\ndate = "2026-11-01"\nsource = "price list"'
            for operation, usd in (("read", 0.5), ("write", 4.0))
        ),
    ]
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sweep" / "_files").mkdir(parents=True)
    (tmp_path / "sweep" / "_files" / "store.toml").write_text(PROFILE)
    return write_synthetic(tmp_path / "sweep", SyntheticStudy("study", {"load_per_s": (1, 2)}, has_groups=False))


def write_configs(folder, provider, catalog="cas"):
    config = json.dumps({"storage": {"provider": str(provider)}, "catalog": {"type": catalog}})
    place = folder / "runs" / "study=study"
    place.mkdir(parents=True)
    pq.write_table(pa.table({"point": [0, 0, 1], "config": [config] * 3}), place / "runs.parquet")


def requests_chart(folder):
    section = make_report(folder).sections[0]
    chart = next(chart for chart in section.charts if chart.id == "requests")
    return chart, section.material.rows("requests", ())


def test_requests_are_priced_by_the_profile(folder, tmp_path):
    write_configs(folder, "./store.toml")
    chart, rows = requests_chart(folder)

    # Load 1: 8 * (4/3) = 10.67 requests, a quarter of each kind; reads cost 0.0005, writes 0.004, cas has no price.
    at_1 = {row["kind"]: row["usd_per_million"] for row in rows if row["xl"] == "1"}
    each = 1e6 * 8 * (4 / 3) / 4
    assert {
        "catalog: read": pytest.approx(each * 0.0005),
        "manifest list: read": pytest.approx(each * 0.0005),
        "manifest list: write": pytest.approx(each * 0.004),
        "catalog: cas": None,
    } == at_1
    assert "USD per million committed txns" in [variant.label for variant in chart.variants]
    assert "read 0.5 USD per 1,000 (price list, 2026-11-01)" in chart.reading


def test_requests_of_a_catalog_service_are_not_on_the_stores_bill(folder, tmp_path):
    write_configs(folder, "./store.toml", catalog="service")
    _, rows = requests_chart(folder)

    assert {"manifest list: read", "manifest list: write"} == {row["kind"] for row in rows if row["usd_per_million"]}


@pytest.mark.parametrize(
    ("provider", "told"),
    [
        ("instant", "No price is shown: the storage profile (instant) states none."),
        ("gone.toml", "states none"),
        (None, "Prices are not shown: the runs' configurations are not in the folder."),
    ],
)
def test_a_profile_without_prices_or_that_is_gone_shows_none_and_says_so(folder, provider, told):
    if provider is not None:
        write_configs(folder, provider)
    chart, _ = requests_chart(folder)

    assert ["requests per committed txn"] == [variant.label for variant in chart.variants]
    assert told in chart.reading


def test_the_shipped_profile_of_a_store_draws_a_price_for_every_kind_of_request(folder):
    write_configs(folder, "s3")
    chart, rows = requests_chart(folder)

    assert "USD per million committed txns" in [variant.label for variant in chart.variants]
    assert all(row["usd_per_million"] for row in rows)
    assert "s3: read and head 0.0004 USD per 1,000 (by Amazon, list price of S3 Standard" in chart.reading
