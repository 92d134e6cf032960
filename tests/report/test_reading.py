"""What is refused, and what a page says about a folder."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic

from endive.errors import OutputError
from endive.pipeline.dataset.files import place_of
from endive.pipeline.dataset.runs_table import append_rows, run_schema
from endive.pipeline.dataset.seal import file_digest, seal_document, unseal_document
from endive.report.reading import open_analysis
from endive.report.report import make_report
from endive.results import MODEL_VERSION

INDEX = "cannot be read as the index of an analysis"


@pytest.fixture
def folder(tmp_path, two_protocols):
    return shutil.copytree(two_protocols, tmp_path / "copy")


def refusal(folder) -> str:
    with pytest.raises(OutputError) as raised:
        open_analysis(folder)
    return str(raised.value).replace(str(folder), "DIR")


def index_of(folder):
    return unseal_document((folder / "analysis" / "index.json").read_bytes())


def change_index(folder, **members):
    (folder / "analysis" / "index.json").write_bytes(seal_document(index_of(folder) | members))


def write_runs(folder, *, status, error):
    rows = [
        {"run_id": str(number), "status": one, "error": why}
        for number, (one, why) in enumerate(zip(status, error, strict=True))
    ]
    append_rows(place_of(folder), "two_protocols", pa.Table.from_pylist(rows, run_schema(())))


def test_what_is_no_folder_of_an_analysis_says_how_to_get_one(folder, tmp_path):
    (tmp_path / "foreign").mkdir()

    assert "DIR does not exist. Fill it first: endive sweep STUDY --out DIR, then endive analyze DIR." == refusal(
        tmp_path / "nowhere"
    )
    assert "DIR is not a folder that 'endive sweep --out' has filled, so there is nothing to report." == refusal(
        tmp_path / "foreign"
    )
    assert "DIR is an analysis itself. Name the folder it lies in" in refusal(folder / "analysis")
    shutil.rmtree(folder / "analysis")
    assert "DIR has not been analysed. Run: endive analyze DIR" == refusal(folder)


def test_a_sweep_with_failures_only_says_why_the_first_failed(folder):
    shutil.rmtree(folder / "analysis")
    write_runs(folder, status=["failed", "failed"], error=["too many txns.", "x"])

    assert (
        "All 2 runs in DIR failed, so there is nothing to report. The first one: too many txns. "
        "Mend the study and sweep again with --retry-failed." == refusal(folder)
    )


@pytest.mark.parametrize(
    ("file", "damage", "told"),
    [
        *(("index.json", text, INDEX) for text in ("not json", '{"endive": "analysis"}', "[]")),
        ("phases.parquet", "PAR1 no", "is missing or damaged"),
    ],
)
def test_a_file_of_the_analysis_that_cannot_be_read_is_named(folder, file, damage, told):
    (folder / "analysis" / file).write_text(damage)

    assert f"DIR/analysis/{file} {told}. Run: endive analyze DIR" == refusal(folder)


def test_an_index_of_another_layout_is_refused(folder):
    change_index(folder, format=9)

    assert "has layout 9; this version of Endive reads layout 2" in refusal(folder)


def test_a_table_without_a_column_is_named(folder):
    path = folder / "analysis" / "phases.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["share"]), path)
    assert "DIR/analysis/phases.parquet is missing or damaged. Run: endive analyze DIR" == refusal(folder)
    change_index(folder, digests=index_of(folder)["digests"] | {path.name: file_digest(path)})

    assert "DIR/analysis/phases.parquet lacks the column 'share'. Run: endive analyze DIR" == refusal(folder)


def test_studies_of_two_model_versions_are_not_put_side_by_side(folder, two_protocols):
    change_index(folder, model_version=99)

    with pytest.raises(OutputError, match=f"model versions {MODEL_VERSION} and 99"):
        make_report(two_protocols, compare_with=folder)


def test_a_folder_swept_further_since_is_noted(folder):
    write_runs(folder, status=["ok"], error=[None])

    (note,) = open_analysis(folder).notes

    assert "swept further after this analysis (two_protocols)" in note


def test_runs_that_are_missing_are_told_until_the_sweep_has_gone_on(folder):
    studies = index_of(folder)["studies"]
    planned = studies["two_protocols"]["runs_planned"]
    studies["two_protocols"]["runs"] = planned - 3
    change_index(folder, studies=studies)

    expected = f"3 of {planned:,} runs of study two_protocols are missing: the sweep has not finished."
    assert (expected,) == make_report(folder).notes


def test_a_study_whose_runs_all_failed_has_a_page_that_says_so(tmp_path):
    good = SyntheticStudy("good", {"load_per_s": (1, 2)})
    bad = SyntheticStudy("bad", {"load_per_s": (1, 2)}, failed=(0, 1))

    section = make_report(write_synthetic(tmp_path, good, bad)).sections[1]

    (why,) = (one.why for one in section.omissions)
    assert "no run of this study succeeded and measured a transaction." == why
    assert section.answer.headline.endswith(": no transaction ended in any window")
