"""What an analysis shows of how late data are, on a terminal."""

import io
from types import SimpleNamespace

import pyarrow as pa
import pytest
from rich.console import Console
from tests.report.synthetic import SyntheticStudy

from endive.cli.studies import analyze as text


def told(objective: str, *, width: int, has_streams: bool = True) -> str:
    study = SyntheticStudy("late", {"load_per_s": [1, 2]}, objective=objective)
    rows = study.rows()["configurations"]
    for row in rows if has_streams else ():
        row |= study.spread("freshness_p95_ms", 90_000.0 * row["load_per_s"])
    tables = {"configurations": pa.Table.from_pylist(rows), "sustained": pa.Table.from_pylist([])}
    console = Console(width=width, record=True, file=io.StringIO())
    for part in text.make_tables(SimpleNamespace(index={"studies": {"late": study.facts()}}, tables=tables), console):
        console.print(part)
    return console.export_text()


def test_streams_have_a_column_with_how_late_their_data_are():
    shown = told("success_rate >= 99 %", width=200)

    assert {"data", "late"} <= set(shown.split())  # a heading breaks where its cells are short
    assert {"90 s", "3 min"} <= {part.strip() for part in shown.replace("±", "  ").split("  ")}
    assert "data" not in told("success_rate >= 99 %", width=200, has_streams=False).split()


@pytest.mark.parametrize(("objective", "is_kept"), [("p95_freshness <= 2min", True), ("success_rate >= 99 %", False)])
def test_at_80_columns_it_stays_if_that_is_what_is_asked_for(objective, is_kept):
    shown = told(objective, width=80)

    assert is_kept == ("data late P95" not in " ".join(shown[shown.index("Not shown") :].split()))
