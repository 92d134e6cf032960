"""The three formats of a table, and the units in them."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from endive.tables.table_files import (
    MARKDOWN_ROWS_MAX,
    cell,
    heading,
    to_csv,
    to_markdown,
    to_parquet,
    unit_of,
)

TABLE = pa.table(
    {
        "catalog.type": ["cas", None],
        "point": [0, 1_234],
        "commit_latency_p95_ms": [1234.5678, 0.0123449],
        "commit_latency_p95_ms_stddev": [1.0, None],
        "commit_latency_p95_ms_ci95_low": [1000.0, None],
        "commit_latency_p95_ms_ci95_high": [1500.25, None],
        "txns_committed": [1_234_567, 0],
        "meets_objective": [True, False],
    }
)


@pytest.mark.parametrize(
    ("column", "unit", "words"),
    [
        ("offered_per_s", "txns/s", "offered (txns/s)"),
        ("offered_per_s_ci95_low", "txns/s", "offered 95 % low (txns/s)"),
        ("commit_latency_p95_ms", "ms", "commit latency P95 (ms)"),
        ("commit_latency_p95_ms_stddev", "ms", "commit latency P95 stddev (ms)"),
        ("window_length_s", "s", "window length s (s)"),
        ("success_rate", "share", "success rate (share)"),
        ("requests_catalog_cas", "requests", "requests catalog cas (requests)"),
        (
            "requests_catalog_cas_per_committed_txn",
            "1/committed txn",
            "requests catalog cas per committed txn (1/committed txn)",
        ),
        ("bytes_read", "bytes", "bytes read (bytes)"),
        ("txns_aborted_timeout", "txns", "txns aborted timeout (txns)"),
        ("meets_objective", "", "meets objective"),
        ("catalog.type", "", "`catalog.type`"),
        ("source.a.arrivals.mean_ms", "", "`source.a.arrivals.mean_ms`"),
    ],
)
def test_every_column_has_its_unit_in_its_heading(column, unit, words):
    assert (unit, words) == (unit_of(column), heading(column))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "yes"),
        (1_234_567, "1,234,567"),
        (1234.5678, "1,235"),
        (0.0123449, "0.01234"),
        (2.0, "2"),
        (0.0, "0"),
        (-0.5, "-0.5000"),
        (1e-12, "1.000e-12"),
        (float("inf"), "inf"),
        ("a|b\nc", "a\\|b c"),
    ],
)
def test_a_value_is_shown_with_four_digits_that_matter(value, text):
    assert text == cell(value)


def test_markdown_puts_the_interval_beside_the_mean_and_leaves_names_of_points_alone():
    assert (
        "# Latency\n"
        "\n"
        "| `catalog.type` | point | commit latency P95 (ms) | txns committed (txns) | meets objective |\n"
        "| --- | ---: | ---: | ---: | --- |\n"
        "| cas | 0 | 1,235 [1,000, 1,500] | 1,234,567 | yes |\n"
        "| - | 1234 | 0.01234 | 0 | no |\n"
    ) == to_markdown(TABLE, "Latency")


def test_markdown_says_what_it_leaves_out():
    table = pa.table({"point": range(MARKDOWN_ROWS_MAX + 2), "error": pa.nulls(MARKDOWN_ROWS_MAX + 2, pa.string())})

    lines = to_markdown(table, "Long").splitlines()

    assert MARKDOWN_ROWS_MAX + 4 + 4 == len(lines)
    assert ["2 more rows are in the CSV and Parquet files.", "", "Empty, and left out here: error."] == lines[-3:]


def test_csv_keeps_full_precision_and_reads_back():
    text = to_csv(TABLE)
    assert text.startswith(b'"catalog.type","point","commit_latency_p95_ms"') or text.startswith(b"catalog.type,point,")
    assert (
        TABLE["commit_latency_p95_ms"].to_pylist()
        == pacsv.read_csv(io.BytesIO(text))["commit_latency_p95_ms"].to_pylist()
    )


def test_parquet_keeps_types_and_carries_units():
    found = pq.read_table(io.BytesIO(to_parquet(TABLE)))
    assert TABLE.equals(found)
    assert b"ms" == found.schema.field("commit_latency_p95_ms").metadata[b"unit"]
    assert found.schema.field("meets_objective").metadata is None


def test_a_text_cannot_become_html_or_a_formula() -> None:
    texts = ["<img src=x onerror=alert(1)>", "=HYPERLINK(1)", "+1", "-1", "@x", "\tx", "plain", None]
    table = pa.table({"catalog.type": texts, "load": [-1.5] * len(texts)})

    page, sheet = to_markdown(table, "T"), to_csv(table).decode()

    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    rows = list(csv.reader(io.StringIO(sheet)))
    assert ["<img src=x onerror=alert(1)>", "'=HYPERLINK(1)", "'+1", "'-1", "'@x", "'\tx", "plain", ""] == [
        row[0] for row in rows[1:]
    ]
    assert {"-1.5"} == {row[1] for row in rows[1:]}


def test_a_table_without_rows_has_the_same_bytes_whatever_it_was_made_from():
    full = pa.table({"text": ["a", "b"], "number": [1.0, 2.0]})

    assert to_parquet(full.schema.empty_table()) == to_parquet(full.filter(pa.array([False, False])))


def test_a_table_has_the_same_bytes_whatever_its_frame_said_of_where_it_is_from():
    fields = [field.with_metadata({"endive.options": '{"path": "s3://lake/out"}'}) for field in TABLE.schema]

    assert to_parquet(TABLE) == to_parquet(TABLE.cast(pa.schema(fields)))
