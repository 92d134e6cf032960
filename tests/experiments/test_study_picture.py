"""tools/study_picture.py: one figure of an analysed study as a picture."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POINTS = "study,point,load,policy,scope\ns,0,1,none,all\ns,1,10,none,all\ns,2,1,fixed,all\ns,3,10,fixed,all\n"
FIGURES = """study,point,scope,name,figure,mean,ci95_low,ci95_high
s,0,all,all,success_rate,1,1,1
s,1,all,all,success_rate,0.5,0.4,0.6
s,2,all,all,success_rate,0.9,,
s,3,all,all,success_rate,0.25,,
s,0,source,stream,success_rate,0.75,,
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "configurations.csv").write_text(POINTS)
    (tmp_path / "analysis" / "figures.csv").write_text(FIGURES)
    index = {"studies": {"s": {"report": {"x": "load", "series": "policy"}}}}
    (tmp_path / "analysis" / "index.json").write_text(json.dumps(index))
    return tmp_path


def test_a_picture_names_its_series_its_axes_and_what_it_shows(folder, monkeypatch):
    picture = folder / "picture.svg"
    arguments = [str(folder), "s", "success_rate", str(picture), "--title", "Does it commit?", "--x", "txns per second"]
    monkeypatch.setattr(sys, "argv", ["study_picture.py", *arguments])

    runpy.run_path(str(ROOT / "tools" / "study_picture.py"), run_name="__main__")

    text = picture.read_text()
    wanted = ["Does it commit?", "txns per second", "success rate", ">none<", ">fixed<", ">100%<"]
    assert [] == [words for words in wanted if words not in text]


def test_a_picture_holds_every_point_of_the_whole_run_and_of_no_source(folder):
    tool = runpy.run_path(str(ROOT / "tools" / "study_picture.py"))
    given = tool["argparse"].Namespace(study="s", figure="success_rate", name="all")

    rows = tool["_rows"](folder / "analysis", given, "load", "policy")

    assert rows == [
        {"x": 1.0, "series": "none", "mean": 1.0, "low": 1.0, "high": 1.0},
        {"x": 10.0, "series": "none", "mean": 0.5, "low": 0.4, "high": 0.6},
        {"x": 1.0, "series": "fixed", "mean": 0.9, "low": 0.9, "high": 0.9},
        {"x": 10.0, "series": "fixed", "mean": 0.25, "low": 0.25, "high": 0.25},
    ]
