"""``endive run``: what it prints, what it writes, and how it fails."""

import json

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from endive.cli.main import app
from endive.config import load_simulation_config
from endive.errors import ConfigError, EngineError


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


# ---- answers ---------------------------------------------------------------------------------------


def test_json_is_exactly_one_object_with_the_agreed_keys(endive, simulation, config_path):
    answer = endive("run", config_path, "--json")

    document = json.loads(answer.stdout)
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert set(document) == {
        *("config_hash", "seed", "seeds", "engine", "fingerprint", "history_checked", "commits_untold", "window"),
        *("summary", "by_operation", "by_source", "requests", "warnings", "figures", "objective", "estimates"),
        *("protocol", "why", "cases", "answer"),
    }
    assert document["config_hash"] == load_simulation_config(config_path).config_hash()
    assert (document["seed"], document["seeds"]) == (5, list(range(5, 21)))
    assert document["window"]["length_s"] == 16.0
    assert document["summary"]["commit_latency_ms"]["mean"] == 300.0
    assert document["by_source"]["default"]["success_rate"] == 2 / 3
    assert document["objective"]["outcome"] == "not met"
    assert document["estimates"]["by_source"]["default"]["success_rate"]["value"] == 2 / 3


def test_tables_show_what_was_measured(endive, simulation, config_path):
    answer = endive("run", config_path)

    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert answer.exit_code == 0
    shown = [line for line in answer.stdout.splitlines() if not line.startswith("next: ")]
    assert max(map(len, shown)) <= 100
    assert lines[0] == "default: 66.7 % of commits succeed (objective >= 99 %: missed)"
    for expected in (
        "source committed success [95 % CI] commits/s P50 P95 P99",
        "default 32 of 48 66.7 % [52.5, 78.3] 0.12 300 ms 400 ms 400 ms",
        "failed 16 transactions ran out of retries (CommitFailedException)",
        "latency commit 83 %, metadata 17 %",
        "requests 4.0 per commit",
        f"next: endive advise {config_path}",
    ):
        assert expected in lines
    assert "16 runs of 20 s (middle 16 s measured), seeds 5-20; Iceberg 1.11 on " in answer.stdout


def test_details_show_everything_that_was_measured(endive, simulation, config_path):
    answer = endive("run", config_path, "--details")

    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    for expected in (
        "metadata 50 ms 16.7 %",
        "commit 250 ms 83.3 %",
        "catalog cas 8 4.00",
        "0 bytes read and 4.5 kB written per run",
        "default 32 of 48 committed, 16 ran out of retries",
        "retries 1.67 per transaction",
    ):
        assert expected in lines


@pytest.mark.parametrize("protocol", ["iceberg", "spec"])
def test_an_answer_names_the_protocol(endive, simulation, config_path, protocol):
    asked = ("run", config_path, "--set", f"commit.protocol={protocol}")

    name = {"iceberg": "Iceberg 1.11", "spec": "protocol spec"}[protocol]
    assert f"; {name} on " in endive(*asked).stdout
    assert protocol == json.loads(endive(*asked, "--json").stdout)["protocol"]


def test_seed_and_set_change_the_configuration(endive, simulation, config_path):
    answer = endive("run", config_path, "--seed", 9, "--set", "simulation.warmup_ms=4500", "--json")

    document = json.loads(answer.stdout)
    assert (document["seed"], document["window"]["start_ms"]) == (9, 4500.0)
    assert document["summary"]["txns"]["submitted"] == 0


@pytest.mark.parametrize("engine", ["auto", "reference", "compiled"])
def test_the_engine_that_is_asked_for_runs_and_reports_no_progress_where_nobody_looks(
    endive, simulation, config_path, engine
):
    endive("run", config_path, "--engine", engine)

    assert [run["engine"] for run in simulation.runs] == [engine, *["auto"] * 15]  # the others only add their doubt
    assert {run["progress"] for run in simulation.runs} == {None}


# ---- files -----------------------------------------------------------------------------------------


def test_out_holds_txns_summary_and_a_configuration_that_makes_them_again(endive, simulation, config_path, tmp_path):
    answer = endive("run", config_path, "--seed", 9, "--out", tmp_path / "run", "--json")

    folder = tmp_path / "run"
    printed = json.loads(answer.stdout)
    written = json.loads((folder / "summary.json").read_text())
    again = load_simulation_config(folder / "config.toml")
    assert names(folder) == ["config.toml", "summary.json", "transactions.parquet"]
    # Another objective may be asked of the same result.
    judged = ("objective", "estimates", "seeds", "protocol", "warnings", "why", "cases", "answer")
    assert {key: written[key] for key in printed if key not in judged} == {
        key: value for key, value in printed.items() if key not in judged
    }
    assert (again.config_hash(), again.simulation.seed) == (printed["config_hash"], 9)
    assert pq.read_table(folder / "transactions.parquet").num_rows == 3


def test_the_configured_output_path_gets_the_txns(endive, simulation, config_path, tmp_path):
    folder = tmp_path / "run"
    command = ("run", config_path, "--set", 'simulation.output_path="txns.parquet"', "--out", folder)

    answer = endive(*command)
    assert 0 == answer.exit_code
    assert answer.stdout.endswith("txns.parquet: the transactions of seed 5\n")
    kept = (folder / "txns.parquet").read_bytes()
    assert kept == (folder / "transactions.parquet").read_bytes()
    assert 0 == endive(*command, "--seeds", "1").exit_code  # the folder of an earlier run is replaced
    assert kept == (folder / "txns.parquet").read_bytes()


def test_a_run_in_which_nothing_is_submitted_has_its_tables(tmp_path):
    path = tmp_path / "late.toml"
    path.write_text(
        "[simulation]\nduration_ms = 1000\n"
        '[[source]]\nname = "late"\narrivals = { kind = "periodic", period_ms = 1e6, offset_ms = 9e4 }\n'
    )

    answer = CliRunner().invoke(app, ["run", str(path), "--seeds", "1", "--engine", "reference"])

    assert 0 == answer.exit_code, answer.output
    first = answer.stdout.splitlines()[0]
    assert first.startswith("late: success_rate has no value (objective >= 99 %: inconclusive, no transaction")


@pytest.mark.parametrize(
    "path", ["../txns.parquet", "a/../../txns.parquet", "/tmp/txns.parquet", "C:\\txns.parquet", "~/txns.parquet", "."]
)
def test_a_configuration_writes_nothing_outside_the_folder_that_was_named(
    endive, simulation, config_path, tmp_path, path
):
    answer = endive("run", config_path, "--set", f"simulation.output_path='{path}'", "--out", tmp_path / "run")

    assert (answer.exit_code, simulation.runs, names(tmp_path)) == (2, [], ["study.toml"])
    assert f"simulation.output_path = {path!r} must be a relative path without '..'" in answer.stderr


def test_a_link_out_of_the_output_folder_is_not_followed(endive, simulation, config_path, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "here")
    answer = endive("run", config_path, "--set", "simulation.output_path=link/txns.parquet")

    assert (answer.exit_code, names(tmp_path / "elsewhere")) == (2, [])
    assert "leads out of" in answer.stderr


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("summary.json", "is the name of another file of a run"),
        ("no/t.parquet", "the folder does not exist; create it first.\n"),
    ],
)
def test_an_output_path_that_cannot_be_is_refused_before_anything_runs(
    endive, simulation, config_path, tmp_path, monkeypatch, path, problem
):
    monkeypatch.chdir(tmp_path)
    answer = endive("run", config_path, "--set", f"simulation.output_path={path}")

    assert (answer.exit_code, simulation.runs) == (2, [])
    assert problem in answer.stderr


def test_a_folder_of_something_else_is_refused_before_anything_runs(endive, simulation, config_path, tmp_path):
    answer = endive("run", config_path, "--out", tmp_path)

    assert (answer.exit_code, answer.stdout, simulation.runs) == (2, "", [])
    assert answer.stderr == (
        f"error: Cannot write {tmp_path}: it holds files that are not of a run (study.toml). "
        "Choose an empty or a new folder.\n"
    )


# ---- failures --------------------------------------------------------------------------------------


def test_every_problem_is_a_line_and_none_is_a_traceback(endive, simulation, config_path):
    simulation.failure = ConfigError(["storage.[red]x = 1: unknown.", "b is too large. " + "Lower it. " * 20])
    answer = endive("run", config_path)

    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert answer.stderr == (f"error: storage.[red]x = 1: unknown.\nerror: b is too large. {'Lower it. ' * 20}\n")


@pytest.mark.parametrize(("failure", "code"), [(EngineError("too many"), 2), (KeyboardInterrupt(), 130)])
def test_a_run_that_fails_leaves_nothing_behind(endive, simulation, config_path, tmp_path, failure, code):
    simulation.failure = failure
    answer = endive("run", config_path, "--out", tmp_path / "run", "--set", "simulation.output_path=txns.parquet")

    assert answer.exit_code == code
    assert names(tmp_path) == ["study.toml"]


def test_a_file_that_is_no_result_is_replaced_only_by_force(endive, simulation, config_path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    letter = tmp_path / "letter.txt"
    letter.write_text("dear reader")
    wanted = ("run", config_path, "--set", "simulation.output_path=letter.txt")

    refused = endive(*wanted)
    assert refused.exit_code == 2
    assert "no result of Endive's. Use --force to replace it." in refused.stderr
    assert letter.read_text() == "dear reader"

    assert endive(*wanted, "--force").exit_code == 0
    assert pq.read_metadata(letter).num_rows == 3
    assert endive(*wanted).exit_code == 0  # a result of ours may be replaced


def test_an_interrupt_is_one_line_and_a_defect_of_ours_is_not_dressed_up_as_the_users_error(
    endive, simulation, config_path
):
    simulation.failure = KeyboardInterrupt()
    answer = endive("run", config_path)
    assert (answer.exit_code, answer.stdout, answer.stderr) == (130, "", "interrupted\n")

    simulation.failure = ZeroDivisionError()
    answer = endive("run", config_path)
    assert answer.exit_code == 70
    assert "error: ZeroDivisionError" in answer.stderr
    assert "a mistake in Endive, not in what you asked for" in answer.stderr


# ---- objectives and seeds --------------------------------------------------------------------------


def test_the_objective_is_that_of_the_option_then_that_of_the_file(endive, simulation, config_path):
    config_path.write_text(config_path.read_text() + '[slo]\nobjective = "retries_mean <= 10"\n')
    ours = json.loads(endive("run", config_path, "--slo", "p99_commit >= 1ms", "--json").stdout)
    of_file = json.loads(endive("run", config_path, "--json").stdout)

    assert ("p99_commit >= 1ms", "retries_mean <= 10") == (ours["objective"]["text"], of_file["objective"]["text"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--slo", "wirters.success_rate > 1 %"], "nothing is named 'wirters'."),
        (["--slo", "sucess_rate > 1 %"], "Did you mean 'success_rate'"),
        (["--precision", "two"], "--precision 'two' is not a share. Write, for example, 2%."),
        (["--seeds", "3", "--out", "run"], "--out takes the txns of one run."),
        (["--precision", "0.1%", "--seeds", "3"], "--precision 0.1% is not reached within 3 simulations: "),
    ],
)
def test_a_question_that_cannot_be_answered_is_one_line(endive, simulation, config_path, arguments, problem):
    answer = endive("run", config_path, *arguments)

    assert (2, "") == (answer.exit_code, answer.stdout)
    assert answer.stderr.startswith("error: ")
    assert problem in answer.stderr


def test_several_seeds_are_taken_together_and_named(endive, simulation, config_path):
    answer = endive("run", config_path, "--seeds", 3, "--seed", 7)
    document = json.loads(endive("run", config_path, "--seeds", 3, "--seed", 7, "--json").stdout)

    assert "default     6 of 9  66.7 % " in answer.stdout
    assert "seeds 7-9" in answer.stdout
    assert ([7, 8, 9], 6, 9) == (
        document["seeds"],
        document["summary"]["txns"]["committed"],
        document["summary"]["txns"]["submitted"],
    )
