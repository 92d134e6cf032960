"""``endive check``: what it says, and the code it ends with."""

from pathlib import Path

from tests.pipeline.in_process import InProcessSpark
from typer.testing import CliRunner

from endive.cli.main import app
from endive.config.study import load_study
from endive.pipeline import PlannedStudy, run_sweep

STUDY = '[study]\nname = "one"\n[axes]\n"transaction.retry" = [1]\n[base.simulation]\nduration_ms = 1_000\n'


def swept(tmp_path: Path) -> Path:
    (tmp_path / "one.toml").write_text(STUDY)
    planned = PlannedStudy.of(load_study(tmp_path / "one.toml"))
    run_sweep(planned, tmp_path / "out", InProcessSpark, engine="reference")
    return tmp_path / "out"


def test_a_whole_dataset_ends_with_0(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["check", str(swept(tmp_path))])

    assert 0 == found.exit_code
    assert found.stdout.endswith("1 objects of transactions and 1 runs checked.\nNothing is damaged.\n")


def test_damage_is_named_with_what_fixes_it_and_ends_with_1(tmp_path: Path) -> None:
    folder = swept(tmp_path)
    next(folder.rglob("part-*.parquet")).write_bytes(b"PAR1")

    found = CliRunner().invoke(app, ["check", str(folder)])

    assert 1 == found.exit_code
    assert "its bytes are not those that the sweep wrote" in found.stderr
    assert f"Fix study one: endive sweep STUDY --out {folder} --repair" in found.stdout
