"""Every bit counts: whatever bit of a dataset flips, it is noticed or changes nothing, and --repair mends it."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import contents as dataset_contents
from tests.pipeline.in_process import InProcessSpark

from endive.config.study import load_study
from endive.errors import OutputError
from endive.pipeline import PlannedStudy, run_sweep
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset.check import check_dataset

FLIPS = 300
SEED = 17
STUDY = """
[study]
name = "tiny"
title = "A tiny study"
seeds = 2

[axes]
"transaction.inter_arrival.scale" = [500, 1000]

[base.simulation]
duration_ms = 5_000

[base.storage]
provider = "mine.toml"

[base.transaction]
runtime = { mean = 1_000, sigma = 0.5, min = 200 }
"""
PROFILE = (Path(__file__).parents[3] / "src/endive/storage/profiles/s3.toml").read_text()


def sweep(folder: Path, study_file: Path, **options: bool) -> int:
    planned = PlannedStudy.of(load_study(study_file))
    return run_sweep(planned, folder, InProcessSpark, engine="reference", **options).simulated


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A dataset of four runs with a profile of the user's, and its study file."""
    scratch = tmp_path_factory.mktemp("check")
    (scratch / "mine.toml").write_text(PROFILE)
    study_file = scratch / "tiny.toml"
    study_file.write_text(STUDY)
    sweep(scratch / "out", study_file)
    return scratch / "out", study_file


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def contents(folder: Path) -> dict[str, Any]:
    return dataset_contents.contents(folder)


def test_a_dataset_that_nobody_touched_is_whole(swept: tuple[Path, Path]) -> None:
    found = check_dataset(swept[0])

    assert (1, 0, 4, ()) == (found.parts, found.missing_runs, found.runs, found.damages)


@pytest.mark.lengthy
def test_every_flipped_bit_is_noticed_or_harmless(swept: tuple[Path, Path]) -> None:
    chance = random.Random(SEED)
    folder = swept[0]
    expected = open_dataset(folder)
    unnoticed = []
    for _ in range(FLIPS):
        victim = chance.choice(files_of(folder))
        whole = victim.read_bytes()
        place, bit = chance.randrange(len(whole)), chance.randrange(8)
        victim.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        try:
            if not check_dataset(folder).damages:
                found = open_dataset(folder)
                if not (expected.runs.equals(found.runs) and expected.groups.equals(found.groups)):
                    unnoticed.append((victim, place, bit))
        finally:
            victim.write_bytes(whole)

    assert [] == unnoticed


@pytest.mark.parametrize("victim", ["transactions", "runs", "studies", "_endive.json"])
def test_what_is_damaged_is_run_again_and_nothing_else(swept: tuple[Path, Path], tmp_path: Path, victim: str) -> None:
    folder = Path(shutil.copytree(swept[0], tmp_path / "out"))
    for path in [folder / victim] if victim.endswith(".json") else files_of(folder / victim):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 4]) + whole[len(whole) // 2 + 1 :])
        assert ["tiny"] == [damage.study for damage in check_dataset(folder).damages]

        simulated = sweep(folder, swept[1], repairs=True)

        assert (4 if victim in ("transactions", "runs") else 0) == simulated
        assert () == check_dataset(folder).damages
        assert contents(swept[0]) == contents(folder)


def test_what_no_row_names_is_no_damage(swept: tuple[Path, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(swept[0], tmp_path / "out"))
    (folder / "transactions" / "study=tiny" / "part-of-a-killed-sweep.parquet").write_bytes(b"PAR1")

    assert () == check_dataset(folder).damages


def test_an_object_that_is_gone_is_named(swept: tuple[Path, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(swept[0], tmp_path / "out"))
    (victim,) = files_of(folder / "transactions")
    victim.unlink()

    (damage,) = check_dataset(folder).damages
    assert damage.text.startswith(f"{victim} is missing. Start the same 'endive sweep' again")


def test_a_profile_travels_by_content_and_no_path_of_this_machine_is_kept(swept: tuple[Path, Path]) -> None:
    folder, study_file = swept
    kept = list((folder / "_files").iterdir())

    assert [PROFILE] == [path.read_text() for path in kept]
    here = str(study_file.parent).encode()
    assert [] == [path for path in files_of(folder) if here in path.read_bytes()]
    assert f'provider = "../_files/{kept[0].name}"' in (folder / "studies" / "tiny.toml").read_text()


def test_a_profile_edited_during_a_sweep_changes_no_run(swept: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(PROFILE)
    study_file = tmp_path / "tiny.toml"
    study_file.write_text(STUDY)

    class Editing(InProcessSpark):
        def createDataFrame(self, table):  # type: ignore[no-untyped-def]  # noqa: N802, ANN
            (tmp_path / "mine.toml").write_text(PROFILE.replace("median_ms", "mean_ms"))
            return super().createDataFrame(table)

    planned = PlannedStudy.of(load_study(study_file))
    run_sweep(planned, tmp_path / "out", Editing, engine="reference")

    assert contents(swept[0]) == contents(tmp_path / "out")


def test_a_kept_file_that_was_edited_is_refused_by_the_worker(swept: tuple[Path, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(swept[0], tmp_path / "out"))
    for path in (*files_of(folder / "transactions"), *files_of(folder / "runs")):
        path.unlink()

    class Editing(InProcessSpark):
        def createDataFrame(self, table):  # type: ignore[no-untyped-def]  # noqa: N802, ANN
            kept = next((folder / "_files").iterdir())
            kept.write_text(kept.read_text().replace("median_ms", "mean_ms"))
            return super().createDataFrame(table)

    planned = PlannedStudy.of(load_study(swept[1]))
    with pytest.raises(OutputError, match="is not the one that was planned"):
        run_sweep(planned, folder, Editing, engine="reference")
    assert [] == files_of(folder / "transactions")
