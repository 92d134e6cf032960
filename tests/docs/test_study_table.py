"""Tables of a study: which rows and columns they have, and how they are titled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "study_table.py"


@pytest.fixture
def folder(tmp_path):
    analysis = tmp_path / "analysis"
    analysis.mkdir()
    report = {"x": "load_per_s", "series": "kind"}
    (analysis / "index.json").write_text(json.dumps({"studies": {"s": {"report": report}}}))
    configurations = ["study,point,scope,load_per_s,kind,tables"]
    figures = ["study,point,figure,name,mean,ci95_low,ci95_high"]
    for point, (load, kind, tables) in enumerate([(1, "log", 1), (2, "log", 1), (1, "rest", 10), (2, "rest", 10)]):
        configurations.append(f"s,{point},all,{load},{kind},{tables}")
        figures.append(f"s,{point},success_rate,all,{1 - point / 10},{0.9 - point / 10},{1 - point / 10}")
    (analysis / "configurations.csv").write_text("\n".join(configurations) + "\n")
    (analysis / "figures.csv").write_text("\n".join(figures) + "\n")
    return tmp_path


def table(folder: Path, *arguments: str) -> str:
    command = [sys.executable, str(TOOL), str(folder), "s", "success_rate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_table_has_a_row_for_each_load_and_a_column_for_each_kind(folder):
    expected = (
        "| offered/s | log | REST |\n"
        "|--:|--:|--:|\n"
        "| 1 | 100.0 % ± 10.0 | 80.0 % ± 10.0 |\n"
        "| 2 | 90.0 % ± 10.0 | 70.0 % ± 10.0 |\n"
    )

    assert expected == table(folder, "--label", "load_per_s=offered/s", "--label", "rest=REST")


def test_several_axes_can_stand_down_the_side_below_a_title(folder):
    expected = "Success:\n\n| load_per_s | tables | log |\n|--:|--:|--:|\n| 1 | 1 | 100.0 % ± 10.0 |\n"
    arguments = ("--rows", "load_per_s,tables", "--where", "load_per_s=1", "--where", "kind=log", "--title", "Success:")

    assert expected == table(folder, *arguments)
