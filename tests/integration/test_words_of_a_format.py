"""Every command asked about a table of one format: no word of the other stands in what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from endive import notebook
from endive.cli.main import app
from endive.config import recipes
from endive.explore.jobs import first
from endive.explore.page_question import read_question
from endive.explore.starting_points import Starts, start_of
from endive.formats.delta import words as delta
from endive.formats.iceberg import words as iceberg

pytestmark = pytest.mark.lengthy

OBSERVED = Path(__file__).parents[1] / "observation/data/delta_rs"
# Delta's log has an action of that name, and its tables a history; the rest are everyday words.
IN_BOTH = {"metadata", "history", "files", "partitions", "table", "columns", "nothing", "all", "none", "position"}
IN_BOTH |= {"equality", "vector", "catalog"} | set(iceberg.RELEASES)
# As they are printed where no tuple has them. Snapshots are Delta's too; their ids, lists and expiry are not.
PRINTED = {
    "iceberg": {"iceberg", "metadata.json", "metadata file", "rest catalog", "sequence number", "validation exception"},
    "delta": {"delta lake", "delta spark", "delta-rs"},
}
PRINTED["iceberg"] |= {f"snapshot {what}" for what in ("id", "list", "log", "expiry")}
STREAM_AND_JOB = """
        [[source]]
        name = "stream"
        recipe = "{}_streaming"
        trigger_interval_ms = 5000
        [[source]]
        name = "job"
        recipe = "{}"
        interval_ms = 60000
        working_ms = 20000
        """
DELTA = f"""
        table.format = "delta"
        delta.log_retention_ms = "5s"
        [storage]
        provider = "azure"
        {STREAM_AND_JOB.format("delta_spark", "delta_spark_merge")}"""
LOADS = {
    "delta": DELTA,
    "delta_rs": """
        table.format = "delta"
        delta.client = "delta_rs"
        catalog.type = "dynamodb"
        [[source]]
        name = "stream"
        arrivals = { kind = "closed", clients = 3, think_ms = "500ms" }
        operation_types = { blind_append = 0.5, append_after_read = 0.5 }
        keeps_table = true
        [[source]]
        name = "job"
        arrivals = { kind = "closed", clients = 1 }
        runtime = "2s"
        operation_types = { merge = 0.5, optimize = 0.5 }
        """,
    "iceberg": STREAM_AND_JOB.format("spark", "spark_merge_cow"),
}
QUESTIONS = (
    "run FILE --seeds 2 --bill",
    "explain FILE --where source='job' --blame",
    "advise FILE --seeds 2",
    "limit FILE --vary load --seeds 2 --from 0.5 --to 2",
    "compare FILE --set source.job.retry=9 --seeds 2",
    "config show FILE",
    "config check FILE",
)


def words_of(format_name: str) -> set[str]:
    """What only that format has a name for, as keys and as they are printed, and its own name."""
    own, other = (iceberg, delta) if format_name == "iceberg" else (delta, iceberg)
    names = names_in(own) - names_in(other) - IN_BOTH
    if own is delta:
        names = {name for name in names if "_" in name}  # merge, checkpoint and the like are anybody's words
    return PRINTED[format_name] | names | {name.replace("_", " ") for name in names}


def names_in(words) -> set[str]:
    """Kinds, objects, phases, and whatever else a format has a list of."""
    return {name for each in vars(words).values() if isinstance(each, tuple) for name in each}


def found_in(text: str, format_name: str) -> set[str]:
    """The words of a format in a text, whatever their case; a chart's drawing is not text."""
    plain = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", text, flags=re.DOTALL)
    return {word for word in words_of(format_name) if re.search(rf"\b{re.escape(word)}s?\b", plain, re.IGNORECASE)}


@pytest.fixture(params=LOADS)
def load(request, tmp_path) -> tuple[Path, str]:
    """A file of a format, and the other's name."""
    path = tmp_path / "load.toml"
    length = "simulation.duration_ms = 120000\nslo.objective = 'every source.success_rate >= 0.99'\n"
    path.write_text(length + LOADS[request.param])
    return path, "delta" if request.param == "iceberg" else "iceberg"


def said(*arguments: object) -> str:
    """The output; that no value meets an objective is an answer too."""
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == 0 or re.search("meets? the objective", result.output), result.output
    return result.output


def test_words_of_a_format_are_its_own_and_are_found():
    assert {"manifest_list", "manifest list", "fast append", "row_delta", "iceberg"} <= words_of("iceberg")
    assert words_of("iceberg").isdisjoint(words_of("delta"))
    assert {"manifest", "manifests", "iceberg"} == found_in(
        "<p>Iceberg keeps manifests</p><svg>row_delta</svg>", "iceberg"
    )


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.split()[0])
def test_an_answer_has_no_word_of_the_other_format(load, question):
    path, other = load

    assert set() == found_in(said(*(path if word == "FILE" else word for word in question.split())), other)


@pytest.mark.parametrize("recipe", [name for name in recipes() if name.startswith("delta")])
def test_a_recipe_of_delta_has_none(recipe):
    assert set() == found_in(said("recipes", recipe), "iceberg")


def test_a_report_of_a_run_and_a_notebook_have_none(load, tmp_path):
    path, other = load
    said("run", path, "--out", tmp_path / "run")
    text = said("report", tmp_path / "run", "--out", tmp_path / "run.html")
    shown = notebook.explain(str(path))._repr_html_()

    page = (tmp_path / "run.html").read_text()
    assert set() == found_in(text + page + shown, other)
    own = "delta" if other == "iceberg" else "iceberg"
    assert found_in(page, own)  # so a word of the other format would be found as well


def test_the_live_page_has_none(load):
    path, other = load
    start = start_of(path, group="Your file")
    (event,) = first(read_question({"start": start.id, "changes": {}}, Starts({start.id: start})).base(), lambda: False)

    assert set() == found_in(json.dumps(event), other)


def test_an_observed_log_of_delta_and_its_replay_have_none(tmp_path):
    text = said("observe", OBSERVED, "--out", tmp_path / "seen")
    text += (tmp_path / "seen" / "page.html").read_text() + said("replay", tmp_path / "seen", "--seeds", "2")

    assert set() == found_in(text, "iceberg")


def test_a_log_of_delta_whose_beginning_was_cleaned_up_is_observed(tmp_path):
    log = tmp_path / "table" / "_delta_log"
    log.mkdir(parents=True)
    for number in range(30, 40):
        name = f"{number:020}.json"
        (log / name).write_bytes((OBSERVED / "_delta_log" / name).read_bytes())

    assert "10 commits from" in said("observe", tmp_path / "table", "--out", tmp_path / "seen")
