"""A sweep whose dataset lies in an object store: the same objects as the files of a folder, each there whole or not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.object_store import refusing_store, s3_endpoint, s3_store, store
from typer.testing import CliRunner

import endive.storage
from endive.cli.main import app
from endive.errors import OutputError
from endive.pipeline import run_sweep
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset import store_path, sweep_folder
from endive.pipeline.dataset.check import check_dataset
from endive.pipeline.dataset.store_path import StorePath
from endive.pipeline.dataset.sweep_folder import SweepFolder

__all__ = ["refusing_store", "s3_endpoint", "s3_store", "store"]

pytestmark = pytest.mark.lengthy


def without_times(name: str, content: bytes) -> bytes:
    """A file without the times that its runs took, and the digests of those times."""
    if "_records/" not in name or "_checksums" in name:
        return content
    document = json.loads(content)
    runs = [{key: value for key, value in run.items() if key != "wall_s"} for run in document["runs"]]
    return json.dumps({**document, "digest": "", "runs": runs}).encode()


def objects(place: StorePath) -> dict[str, bytes]:
    names = {path: path.key.removeprefix(f"{place.key}/") for path in place.glob("**/*")}
    return {name: without_times(name, path.read_bytes()) for path, name in names.items()}


def files(folder) -> dict[str, bytes]:
    names = {path: path.relative_to(folder).as_posix() for path in folder.glob("**/*") if path.is_file()}
    return {name: without_times(name, path.read_bytes()) for path, name in names.items() if name != "_endive.lock"}


def test_the_objects_of_an_s3_server_are_the_files_of_a_folder(planned, s3_store, whole):
    outcome = run_sweep(planned(), str(s3_store), InProcessSpark)

    assert (12, 0, ()) == (outcome.simulated, outcome.kept, outcome.failed)
    assert files(whole) == objects(s3_store)

    more = run_sweep(planned(seeds=3), s3_store, InProcessSpark)

    assert (6, 12) == (more.simulated, more.kept)


def test_a_sweep_that_died_between_two_objects_of_a_part_goes_on_to_the_same_objects(
    planned, store, whole, monkeypatch
):
    move_to = StorePath.move_to
    moved: list[str] = []

    def dying(self, place):
        if "transactions/" in place.key and moved:
            raise KeyboardInterrupt
        moved.extend([place.key] if "transactions/" in place.key else [])
        move_to(self, place)

    with monkeypatch.context() as patch:
        patch.setattr(StorePath, "move_to", dying)
        with pytest.raises(KeyboardInterrupt):
            run_sweep(planned(), store, InProcessSpark)
    left = SweepFolder.read(store)
    kept = sum(len(part.part.run_ids) for part in left.complete_parts("small"))
    names = {name.rpartition("/")[2].partition(".")[0] for name in objects(store) if "_records/" in name}
    half = {part.name for part in left.missing_parts("small")} & names

    again = run_sweep(planned(), store, InProcessSpark)

    assert half  # their records were there, their txns were not: they were no parts
    assert kept == again.kept
    assert 12 == again.kept + again.simulated
    assert files(whole) == objects(store)


def test_a_sweep_whose_plan_another_one_has_changed_says_so_and_takes_nothing_away(planned, store):
    with SweepFolder.locked(store) as slow:
        run_sweep(planned(), store, InProcessSpark)
        with pytest.raises(OutputError, match=r"^Another sweep has written s3://lake/tests/out/_endive.json since"):
            slow.write_manifest()

    assert 12 == run_sweep(planned(), store, InProcessSpark).kept


def test_a_study_that_is_done_leaves_nothing_of_its_killed_sweeps(planned, store):
    run_sweep(planned(seeds=1), store, InProcessSpark)
    left = [store / f"{place}/study=small/dead/{name}" for place, name in (("_progress", "note"), ("_staging", "part"))]
    for place in left:
        place.write(b"")

    run_sweep(planned(), store, InProcessSpark)

    assert not [place for place in left if place.exists()]


def test_what_another_sweep_has_not_committed_yet_is_left_to_it_for_a_day(planned, store, monkeypatch):
    run_sweep(planned(seeds=1), store, InProcessSpark)
    theirs = store / "_staging" / "other" / "attempt-1" / "part.parquet"
    theirs.write(b"half")

    run_sweep(planned(), store, InProcessSpark)
    assert ["_staging/other/attempt-1/part.parquet"] == [name for name in objects(store) if name.startswith("_st")]

    monkeypatch.setattr(sweep_folder, "ABANDONED_S", -1.0)
    run_sweep(planned(), store, InProcessSpark)
    assert not theirs.exists()


@pytest.fixture
def asked(monkeypatch):
    """The requests that are made of the store from now on."""
    library = store_path._library
    requests: list[str] = []

    class Counting:
        def __init__(self, module):
            self._module = module

        def __getattr__(self, name):
            requests.append(name)
            return getattr(self._module, name)

    monkeypatch.setattr(store_path, "_library", lambda module="": Counting(library(module)))
    return requests


def test_to_find_out_which_parts_are_missing_takes_two_requests(planned, store, asked):
    run_sweep(planned(), store, InProcessSpark)
    folder = SweepFolder.read(store)
    asked.clear()

    assert [] == folder.missing_parts("small")
    assert ["list", "list"] == asked


def test_to_open_a_dataset_takes_as_many_requests_whatever_the_number_of_its_parts(planned, store, asked):
    counts = []
    for seeds in (1, 4):
        run_sweep(planned(seeds=seeds), store, InProcessSpark)
        asked.clear()
        parts = len(open_dataset(str(store)).folder.studies["small"].parts)
        counts.append((parts, len(asked)))

    (few, requests), (many, requests_then) = counts
    assert few < many
    assert requests == requests_then


def test_files_that_a_study_names_travel_with_it(planned, store, tmp_path):
    profile = tmp_path / "mine.toml"
    profile.write_text((Path(endive.storage.__file__).parent / "profiles" / "s3.toml").read_text())

    outcome = run_sweep(planned(f"storage.provider={profile}"), store, InProcessSpark)

    assert () == outcome.failed
    assert 1 == len([name for name in objects(store) if name.startswith("_files/")])


def test_a_damaged_object_is_found_and_simulated_again(planned, store):
    run_sweep(planned(), store, InProcessSpark)
    before = objects(store)
    victim = next(path for path in store.glob("**/*.parquet") if "transactions/" in path.key)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write(bytes(content))

    damages = check_dataset(store).damages
    run_sweep(planned(), store, InProcessSpark, repairs=True)

    assert [True] == [damage.text.startswith(f"{victim} is damaged") for damage in damages]
    assert before == objects(store)
    assert 12 == open_dataset(str(store)).runs.num_rows


@pytest.mark.parametrize("command", [["sweep", "STUDY", "--out"], ["analyze"], ["check"], ["report"]])
def test_a_store_without_permission_is_one_line_and_exit_code_2(command, refusing_store, study_file):
    arguments = [str(study_file) if word == "STUDY" else word for word in command]

    result = CliRunner().invoke(app, [*arguments, str(refusing_store)])

    assert 2 == result.exit_code
    assert 1 == len(result.output.strip().splitlines())
    assert "s3://secret/out" in result.output
    assert "permission denied" in result.output
    assert "hunter-22-abc" not in result.output
