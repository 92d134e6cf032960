"""Folders that are not as they should be: what a sweep says of them, and that it leaves them alone."""

import pytest
from tests.pipeline.sweep.test_run_sweep import contents, swept

from endive.errors import EngineError, OutputError
from endive.pipeline import run_sweep
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.dataset.seal import sealed, unsealed
from endive.pipeline.dataset.sweep_folder import SweepFolder


def test_a_truncated_file_is_named_and_nothing_is_changed(planned, in_process, out):
    victim = min((out / "transactions").rglob("*.parquet"))
    size = victim.stat().st_size
    victim.write_bytes(victim.read_bytes()[:-100])
    before = contents(out)

    told = f"is damaged: it has {size - 100:,} bytes of {size:,}. Sweep again with --repair, .*{victim.name}"
    with pytest.raises(OutputError, match=told):
        swept(planned(), out, in_process)
    assert contents(out) == before

    record = out / "_records" / "study=small" / f"{victim.stem}.json"
    victim.unlink()
    record.unlink()
    assert swept(planned(), out, in_process).simulated > 0


def test_a_missing_record_is_damage(planned, in_process, out):
    next((out / "_records").rglob("*.json")).unlink()

    with pytest.raises(OutputError, match="it is missing or cannot be read"):
        swept(planned(), out, in_process)


def test_a_folder_of_something_else_is_refused(planned, in_process, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")

    with pytest.raises(OutputError, match=r"holds files that are not of a sweep \(thesis.tex\)"):
        swept(planned(), tmp_path / "out", in_process)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_a_foreign_file_among_the_data_is_refused(planned, in_process, out):
    stranger = out / "transactions" / "study=small" / "mine.parquet"
    stranger.write_bytes(b"")

    with pytest.raises(OutputError, match=r"mine\.parquet does not belong to this sweep"):
        swept(planned(), out, in_process)


def test_a_folder_of_the_layout_before_can_be_analysed_and_is_not_added_to(planned, in_process, out):
    manifest = out / "_endive.json"
    document = unsealed(manifest.read_bytes())
    for part in document["studies"]["small"]["parts"]:
        place = next((out / "transactions").rglob(f"{part['name']}.parquet"))
        place.rename(place.parent.parent / place.name)
        del part["point"]
    manifest.write_bytes(sealed({**document, "format": 4}))
    for folder in (out / "transactions" / "study=small").glob("point=*"):
        folder.rmdir()

    assert 12 == open_dataset(out).runs.num_rows
    with pytest.raises(OutputError, match=r"folder format 4; this is 5, .* It can be analysed as it is"):
        swept(planned(), out, in_process)


@pytest.mark.parametrize("key", ["model_version", "schema_version"])
def test_a_folder_of_another_version_is_never_mixed_in(planned, in_process, out, key):
    manifest = out / "_endive.json"
    document = unsealed(manifest.read_bytes())
    manifest.write_bytes(sealed({**document, key: document[key] - 1}))
    before = contents(out)

    with pytest.raises(OutputError, match=f"{key.replace('_', ' ')} {document[key] - 1}.*must not be mixed"):
        swept(planned(), out, in_process)
    assert contents(out) == before


def test_a_folder_that_could_not_be_used_leaves_no_trace(planned, tmp_path):
    def no_session():
        raise EngineError("no Java")

    with pytest.raises(EngineError, match="no Java"):
        run_sweep(planned(), tmp_path / "out", no_session)
    assert not (tmp_path / "out").exists()


def test_a_second_sweep_into_the_same_folder_is_refused(planned, in_process, out):
    told = r"Another sweep is writing into .*\. Wait until"
    with SweepFolder.locked(out), pytest.raises(OutputError, match=told):
        swept(planned(), out, in_process)
