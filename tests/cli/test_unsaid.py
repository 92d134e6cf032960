"""What an overwrite reads and nothing sets: every command that answers shows the cases, with the line to paste."""

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.config import load_simulation_config
from endive.config.unsaid import reading_unsaid
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
}


@pytest.fixture
def merge(tmp_path):
    path = tmp_path / "merge.toml"
    path.write_text(MERGE)
    return path


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_what_the_answer_depends_on(endive, merge, command):
    result = endive(*(merge if word == "CONFIG" else word for word in COMMANDS[command]))

    assert 0 == result.exit_code, result.stderr
    assert '[[source]] name = "merge"   read = "table"' in result.stdout


def test_an_assumption_fixes_a_case_and_a_key_that_the_file_sets_is_refused(endive, merge):
    fixed = endive("run", merge, "--seeds", "2", "--assume", "source.merge.read=table")
    refused = endive("run", merge, "--assume", "source.merge.runtime=1s")

    assert "not set" not in fixed.stdout
    assert 2 == refused.exit_code
    assert "--assume source.merge.runtime: the file sets it. Use --set" in refused.stderr


def test_without_cases_only_the_input_is_named(endive, merge):
    result = endive("run", merge, "--seeds", "2", "--no-cases", "--details")

    assert "What merge reads is not set" in words(result.stdout)
    assert "depending on" not in result.stdout


def test_the_report_of_a_run_says_what_is_not_set(endive, merge, tmp_path):
    endive("run", merge, "--seeds", "1", "--out", tmp_path / "out")
    result = endive("report", tmp_path / "out")
    sentence = reading_unsaid(load_simulation_config(merge).to_dict())

    assert f"warning: {sentence}" in words(result.stdout)
    assert sentence.partition(".")[0] in (tmp_path / "out.html").read_text()


def test_the_report_of_a_study_says_so_below_its_answer(endive, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "bundle", lambda: "window.vegaEmbed = null;")
    text = "What merge reads is not set."
    warning = {"study": "study", "warning": "unsaid_reading", "value": 1.0, "text": text}
    study = SyntheticStudy("study", {"load_per_s": (1, 2, 4)}, has_groups=False)
    folder = write_synthetic(tmp_path / "out", study, warnings=[warning])

    assert f"warning: {text}" in words(endive("report", folder).stdout)
