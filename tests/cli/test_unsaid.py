"""What an overwrite has read and nobody said: every command that answers says so, in the same words, with the key."""

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.config import load_simulation_config
from endive.config.unsaid import overlap_unsaid, reading_unsaid
from endive.report import page

pytestmark = pytest.mark.lengthy

MERGE = """
[simulation]
duration_ms = 60_000
warmup_ms = 0
cooldown_ms = 0

[[source]]
name = "stream"
arrivals = { kind = "periodic", period_ms = 5_000 }

[[source]]
name = "merge"
arrivals = { kind = "periodic", period_ms = 10_000 }
operation_types = { validated_overwrite = 1.0 }
runtime = "2s"
"""
COMMANDS = {
    "run": ["run", "CONFIG", "--seeds", "2"],
    "limit": ["limit", "CONFIG", "--vary", "load", "--from", "1", "--to", "64", "--seeds", "2"],
    "advise": ["advise", "CONFIG", "--levers", "retries", "--seeds", "2"],
    "compare": ["compare", "CONFIG", "CONFIG", "--seeds", "2"],
    "explain": ["explain", "CONFIG"],
}


@pytest.fixture
def merge(tmp_path):
    path = tmp_path / "merge.toml"
    path.write_text(MERGE)
    return path


@pytest.fixture
def sentences(merge):
    """What the merge reads, and which files it touches."""
    plain = load_simulation_config(merge).to_dict()
    return reading_unsaid(plain), overlap_unsaid(plain)


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_answers_says_so_once(endive, merge, sentences, command):
    result = endive(*(merge if word == "CONFIG" else word for word in COMMANDS[command]))
    told = words(result.stdout + result.stderr)

    assert "Set read = 'table'" in sentences[0]
    assert [1, 1] == [told.count(sentence) for sentence in sentences]


def test_the_report_of_a_run_says_so_on_the_page_and_in_the_terminal(endive, merge, sentences, tmp_path):
    endive("run", merge, "--seeds", "1", "--out", tmp_path / "out")
    result = endive("report", tmp_path / "out")

    assert f"warning: {sentences[0]}" in words(result.stdout)
    assert sentences[0].partition(".")[0] in (tmp_path / "out.html").read_text()


def test_the_report_of_a_study_says_so_below_its_answer(endive, sentences, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "bundle", lambda: "window.vegaEmbed = null;")
    warning = {"study": "study", "warning": "unsaid_reading", "value": 1.0, "text": sentences[0]}
    study = SyntheticStudy("study", {"load_per_s": (1, 2, 4)}, has_groups=False)
    folder = write_synthetic(tmp_path / "out", study, warnings=[warning])

    assert f"warning: {sentences[0]}" in words(endive("report", folder).stdout)
