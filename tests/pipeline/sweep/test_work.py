"""Notes on progress: what the driver counts, and what the next attempt learns from them."""

from endive.pipeline.sweep.work import DEATHS_MAX, ProgressNotes, ended_runs


def test_runs_that_ended_are_counted_once(tmp_path):
    notes = ProgressNotes(tmp_path, "part-1")
    for _ in range(2):
        notes.write("a", False)
        notes.write("a", True)
    notes.write("b", False)

    assert ended_runs(tmp_path, ["part-1", "part-2"]) == {"a"}


def test_a_run_is_lost_when_its_process_died_so_often(tmp_path):
    notes = ProgressNotes(tmp_path, "part-1")
    for death in range(DEATHS_MAX):
        assert notes.lost_runs() == set(), death
        notes.write("innocent", False)
        notes.write("innocent", True)
        notes.write("poison", False)

    assert notes.lost_runs() == {"poison"}


def test_half_a_line_is_not_read(tmp_path):
    (tmp_path / "part-1").write_text("-aaaa\n-bb")

    assert ended_runs(tmp_path, ["part-1"]) == {"aaaa"}


def test_notes_that_cannot_be_written_stop_nobody(tmp_path):
    ProgressNotes(tmp_path / "nowhere", "part-1").write("a", False)

    assert ended_runs(tmp_path / "nowhere", ["part-1"]) == set()
