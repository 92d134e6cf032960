"""What is refused, and what a page says about a folder."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.errors import OutputError
from endive.pipeline.dataset.seal import file_digest, sealed, unsealed
from endive.report.reading import open_analysis, refuse_two_models
from endive.report.report import make_report
from endive.results import MODEL_VERSION


@pytest.fixture
def folder(tmp_path, two_protocols):
    return shutil.copytree(two_protocols, tmp_path / "copy")


def refusal(folder) -> str:
    with pytest.raises(OutputError) as raised:
        open_analysis(folder)
    return str(raised.value).replace(str(folder), "DIR")


def test_a_folder_that_does_not_exist_says_how_to_fill_it(tmp_path):
    assert "DIR does not exist. Fill it first: endive sweep STUDY --out DIR, then endive analyze DIR." == refusal(
        tmp_path / "nowhere"
    )


def test_a_sweep_without_an_analysis_says_to_run_it(folder):
    shutil.rmtree(folder / "analysis")

    assert "DIR has not been analysed. Run: endive analyze DIR" == refusal(folder)


def test_a_foreign_folder_is_not_a_sweep(tmp_path):
    assert "DIR is not a folder that 'endive sweep --out' has filled, so there is nothing to report." == refusal(
        tmp_path
    )


def test_the_analysis_itself_is_not_the_folder(folder):
    assert "DIR is an analysis itself. Name the folder it lies in" in refusal(folder / "analysis")


def test_a_sweep_with_failures_only_says_why_the_first_failed(folder):
    shutil.rmtree(folder / "analysis")
    place = folder / "runs" / "study=two_protocols"
    place.mkdir(parents=True)
    pq.write_table(pa.table({"status": ["failed", "failed"], "error": ["too many txns.", "x"]}), place / "runs.parquet")

    assert (
        "All 2 runs in DIR failed, so there is nothing to report. The first one: too many txns. "
        "Mend the study and sweep again with --retry-failed." == refusal(folder)
    )


@pytest.mark.parametrize("damage", ["not json", '{"endive": "analysis"}', "[]"])
def test_an_index_that_cannot_be_read_is_named(folder, damage):
    (folder / "analysis" / "index.json").write_text(damage)

    assert "DIR/analysis/index.json cannot be read as the index of an analysis. Run: endive analyze DIR" == refusal(
        folder
    )


def test_an_index_of_another_layout_is_refused(folder):
    path = folder / "analysis" / "index.json"
    path.write_bytes(sealed({**unsealed(path.read_bytes()), "format": 9}))

    assert "has layout 9; this version of Endive reads layout 2" in refusal(folder)


def test_a_damaged_table_is_named(folder):
    (folder / "analysis" / "phases.parquet").write_bytes(b"PAR1 no")

    assert "DIR/analysis/phases.parquet is missing or damaged. Run: endive analyze DIR" == refusal(folder)


def test_a_table_without_a_column_is_named(folder):
    path = folder / "analysis" / "phases.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["share"]), path)
    index = folder / "analysis" / "index.json"
    document = unsealed(index.read_bytes())
    document["digests"][path.name] = file_digest(path)
    index.write_bytes(sealed(document))

    assert "DIR/analysis/phases.parquet lacks the column 'share'. Run: endive analyze DIR" == refusal(folder)


def test_studies_of_two_model_versions_are_not_put_side_by_side(folder, two_protocols):
    path = folder / "analysis" / "index.json"
    path.write_bytes(sealed({**unsealed(path.read_bytes()), "model_version": 99}))

    with pytest.raises(OutputError, match=f"model versions {MODEL_VERSION} and 99"):
        make_report(two_protocols, compare_with=folder)


def test_studies_of_one_model_version_are(two_protocols):
    assert None is refuse_two_models(open_analysis(two_protocols).studies * 2)


def test_a_folder_swept_further_since_is_noted(folder):
    (folder / "runs" / "study=two_protocols").mkdir(parents=True)
    pq.write_table(pa.table({"run_id": ["later"]}), folder / "runs" / "study=two_protocols" / "runs.parquet")

    notes = open_analysis(folder).notes

    assert 1 == len(notes)
    assert "swept further after this analysis (two_protocols)" in notes[0]


def test_runs_that_are_missing_are_told_until_the_sweep_has_gone_on(folder):
    path = folder / "analysis" / "index.json"
    document = unsealed(path.read_bytes())
    facts = document["studies"]["two_protocols"]
    planned, facts["runs"] = facts["runs_planned"], facts["runs_planned"] - 3
    path.write_bytes(sealed(document))

    expected = f"3 of {planned:,} runs of study two_protocols are missing: the sweep has not finished."
    assert (expected,) == make_report(folder).notes


def test_a_study_whose_runs_all_failed_has_a_page_that_says_so(tmp_path):
    good = SyntheticStudy("good", {"load_per_s": (1, 2)})
    bad = SyntheticStudy("bad", {"load_per_s": (1, 2)}, failed=(0, 1))

    section = make_report(write_synthetic(tmp_path, good, bad)).sections[1]

    assert ("no run of this study succeeded and measured a txn.",) == tuple(one.why for one in section.omissions)
    assert "No txn ended in any window, so there is nothing to say about commits." == section.answer.headline
