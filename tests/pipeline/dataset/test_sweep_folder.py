"""The folder and its lock."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from tests.pipeline.swept import change_manifest

from endive.errors import OutputError
from endive.pipeline.dataset.part_files import Part
from endive.pipeline.dataset.sweep_folder import StudyPlan, SweepFolder

NAMES = ("part-00000-0123456789ab", "part-00001-ba9876543210")
RUNS = ["0" * 15 + letter for letter in "abc"]


def test_a_plan_written_down_reads_back(tmp_path):
    with SweepFolder.locked(tmp_path / "out") as folder:
        kept = set(RUNS)
        folder.studies["a"] = StudyPlan(
            "transactions", [Part.of(NAMES[0], RUNS[:2], kept), Part.of(NAMES[1], RUNS[2:], kept)]
        )
        folder.studies["b"] = StudyPlan("runs", [Part.of(NAMES[0], RUNS[:1], ())])
        folder.studies["c"] = StudyPlan("sample", [Part.of(NAMES[0], RUNS[:2], RUNS[:1])])
        folder.write_manifest()

    assert SweepFolder.read(tmp_path / "out").studies == folder.studies
    assert folder.studies["a"].run_ids == set(RUNS)


@pytest.mark.parametrize("is_the_users", [False, True])
def test_a_folder_nothing_was_written_into_stays_only_if_it_was_there_before(tmp_path, is_the_users):
    out = tmp_path / "deep" / "out"
    if is_the_users:
        out.mkdir(parents=True)
    with SweepFolder.locked(out):
        pass

    assert is_the_users == out.exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 4}', "\x00", "[" * 100_000])
def test_a_manifest_that_cannot_be_read_is_told(tmp_path, text):
    (tmp_path / "_endive.json").write_text(text)

    with pytest.raises(OutputError, match="cannot be read as the manifest of a sweep"):
        SweepFolder.read(tmp_path)


def test_a_file_in_the_folders_place_is_refused(tmp_path):
    (tmp_path / "out").write_text("")

    with pytest.raises(OutputError, match="it is a file; name a folder"), SweepFolder.locked(tmp_path / "out"):
        pass


def test_a_folder_of_an_older_format_is_refused_in_one_line(tmp_path):
    text = '{"format": 1, "model_version": 1, "schema_version": 1, "version": "0.0.1", "studies": {}}'
    (tmp_path / "_endive.json").write_text(text)

    told = r"was written with folder format 1 \(endive 0.0.1\); this is 5, .* another folder"
    with pytest.raises(OutputError, match=told):
        SweepFolder.read(tmp_path)


HOLDER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from endive.pipeline.dataset.places import lock_of
    with lock_of(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(3_600)
    """
)


def test_the_lock_of_a_living_process_holds_and_that_of_a_killed_one_does_not(tmp_path):
    (tmp_path / "_endive.lock").write_text("")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        told = r"Another sweep is writing into .*\. Wait until it has ended"
        with pytest.raises(OutputError, match=told), SweepFolder.locked(tmp_path):
            pass
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()

    with SweepFolder.locked(tmp_path) as folder:
        assert folder.studies == {}


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda studies: studies.update({"x' || java_method('a','b') || '": studies["a"]}), "a study cannot be called"),
        (lambda studies: studies.update({"../../escaped": studies["a"]}), "a study cannot be called"),
        (lambda studies: studies["a"]["parts"][0].update(name="../../escaped"), "a part cannot be called"),
        (lambda studies: studies["a"]["parts"][0].update(name="/etc/passwd"), "a part cannot be called"),
        (lambda studies: studies["a"]["parts"][0].update(runs=["../x"]), "a run cannot be called"),
        (lambda studies: studies["a"].update(detail="all"), "detail cannot be 'all'"),
    ],
)
def test_a_manifest_from_a_stranger_names_nothing_outside_the_folder(tmp_path, edit, told):
    with SweepFolder.locked(tmp_path) as folder:
        folder.studies["a"] = StudyPlan("transactions", [Part.of(NAMES[0], RUNS, RUNS)])
        folder.write_manifest()
    change_manifest(tmp_path, lambda manifest: edit(manifest["studies"]))

    with pytest.raises(OutputError, match=f"cannot be read as the manifest of a sweep: {told}"):
        SweepFolder.read(tmp_path)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    with SweepFolder.locked(tmp_path / "out") as folder:
        folder.studies["a"] = StudyPlan("transactions", [Part.of(NAMES[0], RUNS, RUNS)])
        folder.write_manifest()
    (tmp_path / "out" / "transactions").mkdir()
    (tmp_path / "out" / "transactions" / "study=a").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OutputError, match="is a link out of the dataset"), SweepFolder.locked(tmp_path / "out"):
        pass
