"""Every answer about a run names the protocol it was simulated with."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from endive.cli.main import app

APPENDIX = """
[simulation]
duration_ms = 60_000

[storage]
provider = "s3x"

[transaction]
inter_arrival.scale = 1000.0
runtime = { distribution = "fixed", ms = 100 }
"""


@pytest.mark.parametrize("protocol", ["iceberg", "spec"])
def test_an_answer_names_its_protocol(tmp_path: Path, protocol: str) -> None:
    path = tmp_path / "appendix.toml"
    path.write_text(f'{APPENDIX}\n[commit]\nprotocol = "{protocol}"\n')

    table = CliRunner().invoke(app, ["run", str(path), "--seeds", "2"])
    document = CliRunner().invoke(app, ["run", str(path), "--seeds", "2", "--json"])

    assert 0 == table.exit_code == document.exit_code
    assert f"protocol {protocol}" in table.stdout
    assert protocol == json.loads(document.stdout)["protocol"]
