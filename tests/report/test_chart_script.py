"""The script of charts: made once, kept where only the user can write, made again when it is not whole."""

import pytest

from endive.report.charts import chart_script


@pytest.fixture
def made(monkeypatch, tmp_path):
    """How often the script was made; a short one stands for it."""
    calls = []

    def make():
        calls.append(1)
        return "window.vegaEmbed = 1;\nmore();"

    monkeypatch.setattr(chart_script, "_make_script", make)
    monkeypatch.setenv("ENDIVE_CACHE_DIR", str(tmp_path / "cache"))
    return calls


def kept(tmp_path):
    (file,) = (tmp_path / "cache").rglob("vega.js")
    return file


def test_the_script_is_made_once_and_then_read(made, tmp_path):
    first, second = chart_script.bundle(), chart_script.bundle()

    assert (first, 1) == (second, len(made))
    assert first.startswith("/*!\n")
    assert first.endswith("*/\nwindow.vegaEmbed = 1;\nmore();")


@pytest.mark.parametrize("content", [b"", b"half of it", b"\xff\xfe", None])
def test_a_script_that_is_not_whole_is_made_again(made, tmp_path, content):
    expected = chart_script.bundle()
    file = kept(tmp_path)
    file.write_bytes(file.read_bytes()[:-3] if content is None else content)

    assert (expected, expected) == (chart_script.bundle(), chart_script.bundle())
    assert 2 == len(made)


def test_a_folder_that_others_can_write_to_is_not_used(made, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o777)
    (tmp_path / "cache").chmod(0o777)

    expected = chart_script.bundle()

    assert expected == chart_script.bundle()
    assert ([], 2) == (list((tmp_path / "cache").rglob("vega.js")), len(made))


def test_the_script_that_brings_vega_along_begins_with_its_licence(monkeypatch, tmp_path):
    monkeypatch.setenv("ENDIVE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda snippet: snippet)
    comment, script = chart_script.bundle().split("*/\n")

    assert "window.vegaEmbed = vegaEmbed;" == script
    assert comment.startswith("/*!\n")
    assert "Copyright (c) 2015-2023, University of Washington Interactive Data Lab" in comment
    assert "1. Redistributions of source code must retain the above copyright notice" in comment
