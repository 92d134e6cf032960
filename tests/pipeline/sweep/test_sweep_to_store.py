"""A sweep whose dataset is in an object store: the objects are the files of a folder, each there whole or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pipeline.contents import contents
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.object_store import refusing_store, s3_endpoint, s3_store
from typer.testing import CliRunner

import endive.storage
from endive.cli.main import app
from endive.errors import OutputError
from endive.pipeline import run_sweep
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset.check import check_dataset

__all__ = ["refusing_store", "s3_endpoint", "s3_store"]

pytestmark = pytest.mark.lengthy


def test_the_objects_of_a_store_are_the_files_of_a_folder(planned, s3_store, whole):
    outcome = run_sweep(planned(), str(s3_store), InProcessSpark)

    assert (12, 0, ()) == (outcome.simulated, outcome.kept, outcome.failed)
    assert contents(whole) == contents(s3_store)
    assert () == check_dataset(s3_store).damages
    more = run_sweep(planned(seeds=3), s3_store, InProcessSpark)
    assert (6, 12) == (more.simulated, more.kept)
    assert 18 == open_dataset(s3_store).runs.num_rows


def test_a_sweep_of_a_store_that_died_goes_on_to_the_same_objects(planned, s3_store, whole):
    broken = InProcessSpark()
    broken.dies_after = 1
    with pytest.raises(KeyboardInterrupt):
        run_sweep(planned(), s3_store, lambda: broken)
    assert 1 == len((s3_store / "transactions" / "study=small").children("part-*"))

    run_sweep(planned(), s3_store, InProcessSpark)

    assert contents(whole) == contents(s3_store)
    assert [] == [place for place in s3_store.sizes() if "_progress" in str(place)]


def test_files_that_a_study_names_travel_with_it(planned, s3_store, tmp_path):
    profile = tmp_path / "mine.toml"
    profile.write_text((Path(endive.storage.__file__).parent / "profiles" / "s3.toml").read_text())

    outcome = run_sweep(planned(f"storage.provider={profile}"), s3_store, InProcessSpark)

    assert () == outcome.failed
    assert 1 == len((s3_store / "_files").children())


def test_a_damaged_object_is_found_and_simulated_again(planned, s3_store):
    run_sweep(planned(), s3_store, InProcessSpark)
    before = contents(s3_store)
    victim = (s3_store / "transactions" / "study=small").children("part-*")[0]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write(bytes(content))

    damages = check_dataset(s3_store).damages
    run_sweep(planned(), s3_store, InProcessSpark, repairs=True)

    assert [True] == [damage.text.startswith(f"{victim} is damaged") for damage in damages]
    assert before == contents(s3_store)


@pytest.mark.parametrize("command", [["sweep", "STUDY", "--out"], ["analyze"], ["check"], ["report"]])
def test_a_store_without_permission_is_one_line_and_exit_code_2(command, refusing_store, study_file):
    arguments = [str(study_file) if word == "STUDY" else word for word in command]

    result = CliRunner().invoke(app, [*arguments, str(refusing_store)])

    assert 2 == result.exit_code
    assert 1 == len(result.output.strip().splitlines())
    assert "s3://secret/out" in result.output
    assert "permission denied" in result.output
    assert "hunter-22-abc" not in result.output


def test_a_store_of_no_known_kind_is_refused(planned):
    with pytest.raises(OutputError, match="is no place for a dataset"):
        run_sweep(planned(), "ftp://host/out", InProcessSpark)
