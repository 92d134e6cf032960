"""tools/study_table.py: one figure of an analysed study as a Markdown table."""

from __future__ import annotations

import csv
import json
import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest

from tools import study_tables

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "study_table.py"
POINTS = """study,point,load,policy,gap,store,scope,name
s,0,1,none,50,s3x,all,all
s,1,1,fixed,50,s3x,all,all
s,2,5,none,5000,s3,all,all
"""
FIGURES = """study,point,scope,name,figure,unit,seeds,mean,stddev,ci95_low,ci95_high
s,0,all,all,success_rate,share,3,0.9,0.01,0.875,0.925
s,1,all,all,success_rate,share,3,1,0,1,1
s,2,all,all,success_rate,share,1,0.5,,,
s,0,all,all,commit_latency_p95_ms,ms,3,1234.5,1,1200,1269
s,2,all,all,commit_latency_p95_ms,ms,3,,,,
s,0,source,stream,success_rate,share,3,0.25,0,0.25,0.25
"""


@pytest.fixture
def table(tmp_path, monkeypatch, capsys):
    """``table("s", "success_rate")``: what the tool prints of a small analysis."""
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "configurations.csv").write_text(POINTS)
    (tmp_path / "analysis" / "figures.csv").write_text(FIGURES)
    index = {"studies": {"s": {"report": {"x": "load", "series": "policy"}}}}
    (tmp_path / "analysis" / "index.json").write_text(json.dumps(index))

    def printed(*arguments: str, folder: str = str(tmp_path)) -> list[str]:
        monkeypatch.setattr(sys, "argv", ["study_table.py", folder, *arguments])
        runpy.run_path(str(TOOL), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return printed


def test_rows_are_what_the_study_is_drawn_against_and_columns_its_series(table):
    assert table("s", "success_rate") == [
        "| load | none | fixed |",
        "|--:|--:|--:|",
        "| 1 | 90.0 % ± 2.5 | 100.0 % |",
        "| 5 | 50.0 % |  |",
    ]


def test_figures_can_stand_along_the_top(table):
    assert table("s", "success_rate", "commit_latency_p95_ms", "--columns", "figures", "--where", "policy=none") == [
        "| load | success_rate | commit_latency_p95_ms |",
        "|--:|--:|--:|",
        "| 1 | 90.0 % ± 2.5 | 1,234 ± 34 |",
        "| 5 | 50.0 % | - |",
    ]


def test_gaps_can_be_shown_as_rates_and_stores_have_their_names(table):
    assert table("s", "success_rate", "--rows", "gap,store,policy", "--columns", "load", "--rate", "gap") == [
        "| offered/s | store | policy | 1 | 5 |",
        "|--:|---|---|--:|--:|",
        "| 20 | S3 Express | none | 90.0 % ± 2.5 |  |",
        "|  |  | fixed | 100.0 % |  |",
        "| 0.2 | S3 | none |  | 50.0 % |",
    ]


def test_a_table_can_have_a_title_and_words_of_its_own(table):
    arguments = ("--title", "Success:", "--label", "load=offered/s", "--label", "none=no pause", "--where", "load=1")

    assert table("s", "success_rate", *arguments) == [
        "Success:",
        "",
        "| offered/s | no pause | fixed |",
        "|--:|--:|--:|",
        "| 1 | 90.0 % ± 2.5 | 100.0 % |",
    ]


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (1.0, 0.987, 1.0, "100.0 % -1.3"),
        (0.0, 0.0, 0.055, "0.0 % +5.5"),
        (0.995, 0.985, 1.0, "99.5 % +0.5 -1.0"),
        (0.5, 0.46, 0.54, "50.0 % ± 4.0"),
        (1.0, 0.9999, 1.0, "100.0 %"),
        (0.99999, 0.992, 0.99998, "100.0 % -0.8"),
    ],
)
def test_no_share_reaches_beyond_its_bounds(table, tmp_path, mean, low, high, text):
    (tmp_path / "analysis" / "figures.csv").write_text(
        f"{FIGURES.splitlines()[0]}\ns,0,all,all,success_rate,share,3,{mean},0.01,{low},{high}\n"
    )

    assert f"| 1 | {text} |" == table("s", "success_rate", "--where", "load=1", "--where", "policy=none")[-1]


def test_a_source_can_be_named_instead_of_all_txns(table):
    assert (
        "| 1 | 25.0 % |"
        == table("s", "success_rate", "--name", "stream", "--where", "load=1", "--where", "policy=none")[-1]
    )


def test_where_no_txn_ended_that_is_said(table):
    assert [
        "| load | none | fixed |",
        "|--:|--:|--:|",
        "| 1 | 25.0 % | none ended |",
        "| 5 | none ended |  |",
    ] == table("s", "success_rate", "--name", "stream")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("t", "success_rate"), "has no study 't'. Choose one of: s."),
        (
            ("s", "success_rate", "--rows", "size"),
            "'size' is no axis of the study. Name one with --rows and --columns.",
        ),
        (("s", "success_rate", "--where", "load=9"), "No point meets the conditions of --where."),
        (
            ("s", "success_rate", "--columns", "figures"),
            "Points 0 and 1 fall into one cell: tell them apart by --where.",
        ),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_sentence(table, arguments, told):
    with pytest.raises(SystemExit) as refused:
        table(*arguments)

    assert str(refused.value).endswith(told)


def test_a_folder_without_analysis_is_told_how_to_get_one(table, tmp_path):
    with pytest.raises(SystemExit) as refused:
        table("s", "success_rate", folder=str(tmp_path / "none"))

    assert f"{tmp_path}/none/analysis holds no analysis. Run: endive analyze {tmp_path}/none" == str(refused.value)


def test_a_file_holds_every_row_and_the_page_those_to_keep(table, tmp_path):
    file = tmp_path / "all.csv"

    assert table("s", "success_rate", "--csv", str(file), "--keep", "load=1|2", "--label", "load=offered/s") == [
        "| offered/s | none | fixed |",
        "|--:|--:|--:|",
        "| 1 | 90.0 % | 100.0 % |",
        "",
        "All 2 rows, with their intervals: [all.csv](all.csv).",
    ]
    assert file.read_text() == "offered/s,none,fixed\n1,90.0 % ± 2.5,100.0 %\n5,50.0 %,\n"
    link = ["All 2 rows, with their intervals: [all.csv](all.csv)."]
    assert link == [line for line in table("s", "success_rate", "--csv", str(file), "--link") if line]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("93.7 % +6.3 -9.1", "93.7 % +6.3 -9.1"),
        ("93.7 % +1.2 -4.9", "93.7 %"),
        ("93.7 % ± 5.0", "93.7 % ± 5.0"),
        ("100.0 % -1.4", "100.0 %"),
        ("1,234 +124 -90", "1,234 +124 -90"),
        ("1,234 +123 -90", "1,234"),
        ("-", "-"),
        ("none ended", "none ended"),
    ],
)
def test_beside_a_file_an_interval_is_shown_where_it_is_wide(text, shown):
    assert shown == runpy.run_path(str(TOOL))["_shorten"](text)


def marks() -> list[tuple[Path, str, str]]:
    """Every mark of a page that names tables of ``study_tables.toml``."""
    pages = [*(ROOT / "docs" / "studies").glob("*.md"), *(ROOT / "docs" / "guides").glob("*.md")]
    named = re.compile(r"^<!-- made slowly by: python -m tools\.study_tables (\S+) (\S+) -->$", re.MULTILINE)
    return [(page, *match) for page in sorted(pages) for match in named.findall(page.read_text(encoding="utf-8"))]


def test_every_table_has_its_place_on_the_page_of_its_name():
    pages = tomllib.loads(study_tables.FILE.read_text(encoding="utf-8"))
    listed = {(page, name) for page, tables in pages.items() for name in tables if name != study_tables.SHARED}

    assert listed == {(page, name) for _, page, name in marks()}
    assert [] == [str(path) for path, page, _ in marks() if path.stem != page]


@pytest.mark.parametrize(("path", "page", "name"), marks(), ids=str)
def test_a_page_links_to_the_files_of_its_tables_and_shows_rows_of_them(path, page, name):
    text = path.read_text(encoding="utf-8")
    for arguments in study_tables.arguments_of(page, name):
        if "--csv" in arguments:
            file = ROOT / arguments[arguments.index("--csv") + 1]
            rows = list(csv.reader(file.open(encoding="utf-8")))
            assert f"All {len(rows) - 1} rows, with their intervals: [{file.name}]({file.name})." in text
            assert f"| {' | '.join(rows[0])} |\n" in text
