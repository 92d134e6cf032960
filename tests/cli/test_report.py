"""``endive report`` as a user sees it."""

from __future__ import annotations

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.report import page


@pytest.fixture(autouse=True)
def without_vega(monkeypatch):
    monkeypatch.setattr(page, "bundle", lambda: "window.vegaEmbed = null;")


@pytest.fixture
def folder(tmp_path):
    return write_synthetic(tmp_path / "out", SyntheticStudy("study", {"load_per_s": (1, 2, 4)}, has_groups=False))


def test_the_report_is_named_after_five_lines_of_answer(endive, folder):
    result = endive("report", folder)

    lines = result.stdout.splitlines()
    assert (0, 6) == (result.exit_code, len(lines))
    assert "Study: 3 configurations, 3 seeds each" == lines[0]
    assert lines[5].startswith(f"{folder}/report.html (")
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


def test_the_file_can_be_elsewhere(endive, folder, tmp_path):
    path = tmp_path / "pages" / "study.html"

    assert 0 == endive("report", folder, "--out", path).exit_code
    assert path.is_file()
    assert not (folder / "report.html").exists()


def test_a_folder_without_analysis_is_analysed_and_what_prevents_that_is_told(endive, tmp_path):
    (tmp_path / "_endive.json").write_text("{}")
    result = endive("report", tmp_path)

    assert 2 == result.exit_code
    assert result.stderr.startswith(f"{tmp_path} has not been analysed: analysing it\n")
    assert "_endive.json cannot be read as the manifest of a sweep" in result.stderr


def test_a_place_that_cannot_be_written_is_an_error_in_words(endive, folder, tmp_path):
    (tmp_path / "file").write_text("")
    result = endive("report", folder, "--out", tmp_path / "file" / "report.html")

    assert 2 == result.exit_code
    assert result.stderr.startswith("error: Cannot write ")


def test_a_folder_as_the_file_is_refused(endive, folder):
    result = endive("report", folder, "--out", folder)

    assert (2, True) == (result.exit_code, "it is a folder; name a file in it" in result.stderr)


def test_two_folders_are_compared(endive, folder, tmp_path):
    other = write_synthetic(tmp_path / "other", SyntheticStudy("other", {"load_per_s": (1, 2, 4)}, capacity_per_s=6.0))
    result = endive("report", folder, "--compare", other)

    assert 0 == result.exit_code
    assert result.stdout.splitlines()[4].startswith("Other against Study: P95 from")


def test_a_missing_library_is_named(endive, folder, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = endive("report", folder)

    assert 2 == result.exit_code
    assert "needs the package vl-convert-python. Install it: pip install 'endive[report]'" in result.stderr
