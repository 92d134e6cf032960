"""An observed folder remembers its replays, and every answer about it begins with the verdict."""

import json
import re

import pytest
from tests.observation.replay.test_replay import ATTEMPT_MS, LOAD_MS, STORE, appends
from typer.testing import CliRunner

from endive.cli.main import app
from endive.config import load_simulation_config, read_toml
from endive.observation.folder import write_folder
from endive.observation.folder_memory import forget, observed_note
from endive.observation.observe import observe
from endive.observation.replay.latency_fit import SIGMAS

pytestmark = pytest.mark.usefixtures("few_changes")

SLOW = ("storage.provider=constant", "storage.latency_ms=400")


@pytest.fixture
def folder(tmp_path):
    (place,) = write_folder(tmp_path / "seen", [observe(appends(is_submission=True))])
    return place


def endive(*words) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert 0 == result.exit_code, result.output
    return result.stdout


def replay(folder, *assumed, more=()) -> dict:
    given = [part for each in assumed for part in ("--assume", each)]
    return json.loads(endive("replay", folder, "--seeds", 2, "--json", *given, *more))["tables"][0]


def test_a_folder_that_was_never_replayed_says_so_first(folder):
    assert "Nobody has held this model against t yet: endive replay" in observed_note(folder)
    assert None is observed_note(folder / "trace.csv")


def test_a_folder_whose_rates_are_off_says_that_before_anything_else(folder):
    findings = json.loads((folder / "observation.json").read_text())
    findings["rates"]["unknown"] |= {"holds": False, "counts": "unknown: 12 commits seen, but 3 in the model"}
    (folder / "observation.json").write_text(json.dumps(findings))

    off = "This model does not commit as t was seen to: unknown: 12 commits seen, but 3 in the model. Nobody has held"
    assert observed_note(folder).startswith(off)
    assert endive("run", folder, "--seeds", 2).startswith(off)


def test_what_a_replay_is_given_is_kept_and_repeated_with_its_verdict(folder):
    replay(folder, *SLOW)

    config = load_simulation_config(folder)
    printed = json.loads(endive("run", folder, "--json", "--seeds", 2))

    assert ("constant", 400.0) == (config.storage.provider, config.storage.latency_ms)
    assert printed["warnings"][0].startswith("On t this model explains ")
    assert "; the rest: commit P" in printed["warnings"][0]
    assert "Used as given to the replay: storage.provider=constant, storage.latency_ms=400." in printed["observed"]
    assert endive("run", folder, "--seeds", 2).startswith("On t this model explains ")


@pytest.mark.lengthy
def test_a_replay_holds_the_rates_of_what_it_writes_against_those_seen_once_more(folder):
    """A replay begins each txn when it began, and does not notice; whoever asks the folder later has the clocks."""
    printed = endive("replay", folder, "--seeds", 2, "--assume", 'source.unknown.arrivals={kind="fixed",ms=1e6}')

    off = r"This model does not commit as t was seen to: unknown: \d+ commits seen, but \d+ in the model"
    assert re.search(f"As a configuration, with the sources' own clocks: {off}", printed)
    assert re.match(off, observed_note(folder))
    (folder / "observation.json").write_text((folder / "observation.json").read_text().replace('"tried"', '"tired"'))
    assert "As a configuration" not in endive("replay", folder, "--seeds", 2)


@pytest.mark.lengthy
def test_a_second_replay_starts_from_the_first_and_forgetting_goes_back(folder):
    first = (folder / "endive.toml").read_text()
    replay(folder, *SLOW)
    replay(folder, "catalog.latency_ms=33")

    config = load_simulation_config(folder)
    assert (400.0, 33.0) == (config.storage.latency_ms, config.catalog.latency_ms)
    forget(folder)
    assert first == (folder / "endive.toml").read_text()
    assert ["endive.toml", "observation.json", "trace.csv"] == sorted(each.name for each in folder.iterdir())


def test_a_profile_goes_into_the_folder_so_that_it_can_move(folder, tmp_path):
    profile = tmp_path / "mine.toml"
    profile.write_text(
        'name = "mine"\ntitle = "mine"\ndescription = "mine"\nvintage = "measured"\n'
        'capabilities = ["read", "write", "cas"]\n'
        + "".join(
            f'[latency.{name}]\ndistribution = "fixed"\nms = 7.0\nknown = "measured"\nsource = "here"\n'
            for name in ("read", "write", "cas.success", "cas.failure")
        )
    )
    replay(folder, more=("--profile", profile))
    profile.unlink()
    moved = folder.rename(tmp_path / "moved")

    assert moved / "store.toml" == (moved / load_simulation_config(moved).storage.provider).absolute()


def test_a_configuration_that_was_changed_since_is_told(folder):
    replay(folder, *SLOW)
    (folder / "endive.toml").write_text((folder / "endive.toml").read_text() + "\n# mine\n")

    assert "endive.toml was changed since: replay it again." in observed_note(folder)


@pytest.mark.parametrize("content", ["", "[]", '{"table": "t"}', '{"explains": 1}'])
def test_a_damaged_memory_is_one_line(folder, content):
    (folder / "replay.json").write_text(content)

    assert "replay.json" in observed_note(folder)


@pytest.mark.lengthy
def test_a_store_that_nobody_measured_is_fitted_to_the_commits_that_were_seen(tmp_path):
    """Seven requests of 100 ms and five of the catalog made the duration; one latency for the store explains it."""
    (folder,) = write_folder(
        tmp_path / "seen", [observe(appends(is_submission=True, duration_ms=ATTEMPT_MS + LOAD_MS))]
    )
    found = replay(folder, STORE[2], 'source."unknown".operation_types={fast_append=1.0}', more=("--fit",))

    assert found["explains"], found["verdict"]
    fitted = read_toml(folder / "store.toml")["latency"]["read"]
    assert 100.0 == pytest.approx(fitted["median_ms"], rel=0.15)
    assert SIGMAS[0] == fitted["sigma"]
    assert "--fit" in observed_note(folder)
