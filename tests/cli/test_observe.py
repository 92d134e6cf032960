"""``endive observe`` and ``endive replay``: from a log or a table to a folder, and from there to a verdict."""

import json
import shutil
from pathlib import Path

import pytest
from tests.observation.conftest import metadata, real_table, snapshot
from typer.testing import CliRunner

from endive.cli.main import app
from endive.observation import load_observed

pytestmark = pytest.mark.lengthy

__all__ = ["real_table"]


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An append every ten seconds that takes a fixed time on a constant store: 8 requests of 10 ms, one attempt."""
    path = tmp_path / "commits.csv"
    rows = [f"2026-03-01T12:{n // 6:02d}:{10 * (n % 6):02d}Z,append,db.t,{took(n)},1,committed" for n in range(60)]
    path.write_text("timestamp,operation,table,duration,attempts,outcome\n" + "\n".join(rows) + "\n")
    return path


def took(n: int) -> int:
    return 200 + n % 3


def test_a_log_becomes_a_folder_with_trace_configuration_findings_and_page(log, tmp_path):
    result = invoke("observe", log, "--out", tmp_path / "seen", "--json")

    assert 0 == result.exit_code, result.output
    files = sorted(each.name for each in (tmp_path / "seen").iterdir())
    assert ["endive.toml", "observation.json", "page.html", "trace.csv"] == files
    (source,) = load_observed(tmp_path / "seen").to_dict()["source"]
    assert ("periodic", 10_000.0) == (source["arrivals"]["kind"], source["arrivals"]["period_ms"])
    (printed,) = json.loads(result.stdout)["tables"]
    written = json.loads((tmp_path / "seen" / "observation.json").read_text())
    assert (60, {"append": 60}, written["sources"]) == tuple(
        printed[key] for key in ("commits", "operations", "sources")
    )


def test_a_replay_says_that_the_model_does_not_explain_a_store_that_is_another(log, tmp_path):
    invoke("observe", log, "--out", tmp_path / "seen")
    assumed = ["--assume", "storage.provider=constant", "--assume", "storage.latency_ms=500"]

    result = invoke("replay", tmp_path / "seen", *assumed, "--seeds", 2, "--json")

    (replay,) = json.loads(result.stdout)["tables"]
    assert not replay["explains"]
    assert "The model does not explain what you saw on db.t" in replay["verdict"]


def test_a_replay_with_a_change_shows_what_would_happen(log, tmp_path):
    invoke("observe", log, "--out", tmp_path / "seen")
    assumed = ["--assume", "storage.provider=constant", "--assume", "storage.latency_ms=10"]

    result = invoke("replay", tmp_path / "seen", *assumed, "--seeds", 2, "--scale", 2, "--json")

    (figures,) = json.loads(result.stdout)["tables"][0]["sources"].values()
    commits = next(each for each in figures if each["name"] == "commits")
    assert 2 * commits["model"] == pytest.approx(commits["changed"], rel=0.04)


def test_a_folder_with_other_files_stays_untouched(log, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")

    assert 2 == invoke("observe", log, "--out", tmp_path / "mine").exit_code
    assert ["thesis.txt"] == [each.name for each in (tmp_path / "mine").iterdir()]


def test_a_history_that_is_too_short_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "v1.metadata.json"
    path.write_bytes(metadata([snapshot(500, 0), snapshot(501, 10)]))

    result = invoke("observe", path, "--out", tmp_path / "seen")

    assert 2 == result.exit_code
    assert "has 2 snapshots in its history; at least 3 are needed: 499 were expired." in result.stderr
    assert not (tmp_path / "seen").exists()


def test_no_credential_reaches_the_folder_or_the_terminal(real_table, tmp_path):
    options = [*real_table.options, "--property", "s3.secret-access-key=hunter-22-abc"]

    result = invoke("observe", "db.events", "--catalog", "real", *options, "--out", tmp_path / "seen")

    assert 0 == result.exit_code, result.output
    written = b"".join(path.read_bytes() for path in (tmp_path / "seen").rglob("*") if path.is_file())
    assert b"hunter-22-abc" not in written
    assert "hunter-22-abc" not in result.output


def test_several_tables_become_a_folder_each(log, tmp_path):
    second = log.read_text().replace("db.t", "db.u").splitlines(keepends=True)[1:]
    log.write_text(log.read_text() + "".join(second))

    result = invoke("observe", log, "--out", tmp_path / "seen")

    assert 0 == result.exit_code, result.output
    assert ["db.t", "db.u"] == sorted(each.name for each in (tmp_path / "seen").iterdir())


def test_of_a_namespace_what_cannot_be_observed_is_told_and_left_out(real_table, tmp_path):
    result = invoke("observe", "db", "--catalog", "real", *real_table.options, "--out", tmp_path / "seen")

    assert 0 == result.exit_code, result.output
    assert "left out: db.empty has 0 snapshots in its history; at least 3 are needed." in result.output
    assert "db.events: 8 commits" in result.output


def test_a_table_whose_files_go_while_it_is_read_is_observed_without_them(real_table, tmp_path):
    moved = tmp_path / "copy"
    shutil.copytree(real_table.folder, moved)
    (file,) = moved.rglob(Path(real_table.metadata_location).name)
    for each in moved.rglob("snap-*.avro"):
        each.unlink()
    text = file.read_text().replace(str(real_table.folder), str(moved))
    file.write_text(text)

    result = invoke("observe", file, "--out", tmp_path / "seen")

    assert 0 == result.exit_code, result.output
    assert "not all manifest lists could be read" in result.output


def test_an_observed_folder_answers_how_far_it_can_go_and_what_would_help(log, tmp_path):
    invoke("observe", log, "--out", tmp_path / "seen")
    key = "source.unknown.arrivals.period_ms"

    few = ("--seeds", "2", "--json")
    limit = invoke(
        *("limit", tmp_path / "seen", "--vary", key, "--slo", "success_rate >= 99 %"),
        *("--from", "20", "--to", "8000", "--simulations", "40", *few),
    )
    advice = invoke("advise", tmp_path / "seen", "--slo", "p50_commit <= 1ms", "--levers", "store", *few)

    assert (0, 0) == (limit.exit_code, advice.exit_code), limit.output + advice.output
    assert key == json.loads(limit.stdout)["key"]
    words = {each["words"] for each in json.loads(advice.stdout)["advice"]}
    assert "S3 Express as the store" in words
    assert not any("Azure" in each for each in words)  # no store of another cloud
