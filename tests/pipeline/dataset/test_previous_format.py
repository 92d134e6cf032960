"""A dataset of the previous format, as release 5 of it was written: read, analysed and checked, and not added to.

``format_5.tar.gz`` holds two points with two seeds of 5 s each, whose transactions are kept.
"""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.pipeline.in_process import InProcessSpark

from endive.config.study import load_study
from endive.errors import OutputError
from endive.pipeline import PlannedStudy, run_sweep
from endive.pipeline.analysis.open_dataset import open_dataset
from endive.pipeline.analysis.recount import recount
from endive.pipeline.analysis.run_analysis import TITLES, analyze
from endive.pipeline.dataset.check import check_dataset
from endive.results.window import Window
from endive.tables.run_counts import OUTCOME_SUMS, TIME_SUMS
from endive.tables.tally import tally_outcomes, tally_time

pytestmark = pytest.mark.spark
WINDOW = Window.of_ms(duration_ms=5_000.0, warmup_ms=1_250.0, cooldown_ms=1_250.0)


@pytest.fixture
def earlier(tmp_path):
    with tarfile.open(Path(__file__).with_name("format_5.tar.gz")) as archive:
        archive.extractall(tmp_path / "out", filter="data")
    return tmp_path / "out"


def test_it_is_whole_and_every_metric_is_confirmed(earlier, spark):
    found = check_dataset(earlier)
    assert (4, 0, 4, ()) == (found.parts, found.missing_runs, found.runs, found.damages)

    agreements = recount(spark, open_dataset(earlier))
    assert [] == [each for each in agreements if each.values != each.equal]
    assert len(agreements) > 100


@pytest.mark.parametrize(("name", "sums"), [("timeline", TIME_SUMS), ("outcomes", OUTCOME_SUMS)])
def test_its_counts_are_made_of_its_transactions(earlier, spark, name, sums):
    tally = {"timeline": tally_time, "outcomes": tally_outcomes}[name]
    expected = Counter()
    for path in sorted((earlier / "transactions").rglob("*.parquet")):
        txns = pq.ParquetFile(path).read()
        for row in tally(txns, WINDOW).to_pylist():
            key = (txns["run_id"][0].as_py(), *(value for key, value in row.items() if key not in sums))
            expected[key] = tuple(row[each] for each in sums)

    found = {}
    for row in open_dataset(earlier).count_frame(spark, name).toArrow().to_pylist():
        keys = [key for key in row if key not in (*sums, "study", "point", "seed", "run_id")]
        ordered = ("source", "kind", *(key for key in keys if key not in ("source", "kind")))
        found[row["run_id"], *(row[key] for key in ordered)] = tuple(row[each] for each in sums)

    assert dict(expected) == found
    assert 5 < len(found)


def test_it_has_every_table_of_an_analysis(earlier, spark):
    found = analyze(earlier, lambda: spark)

    assert set(TITLES) == set(found.tables)
    assert 4 == found.tables["runs"].num_rows


def test_it_is_not_added_to(earlier):
    planned = PlannedStudy.of(load_study(earlier / "studies" / "tiny.toml"))

    with pytest.raises(OutputError, match=r"folder format 5; this is 6.*It can be analysed as it is"):
        run_sweep(planned, earlier, InProcessSpark)


@pytest.mark.parametrize("folder", ["transactions", "latencies", "runs", "groups", "_records", "studies"])
def test_a_flipped_bit_is_noticed(earlier, folder):
    victim = sorted(path for path in (earlier / folder).rglob("*") if path.is_file())[0]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)

    assert any(str(victim) in damage.text or "_checksums" in damage.text for damage in check_dataset(earlier).damages)


def test_damage_stops_the_analysis(earlier):
    victim = earlier / "runs" / "study=tiny" / "runs.parquet"
    victim.write_bytes(victim.read_bytes()[:-1])

    with pytest.raises(OutputError, match=r"runs\.parquet is damaged"):
        open_dataset(earlier)
