"""What the wheel holds: everything a run needs without the checkout, and the mark that it is typed."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    made = subprocess.run([sys.executable, "-c", code, folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return folder / made.stdout.splitlines()[-1]


@pytest.mark.lengthy
def test_the_wheel_holds_every_file_of_the_package(wheel):
    expected = {
        path.relative_to(ROOT / "src").as_posix()
        for package in ("endive", "pyspark_endive")
        for path in (ROOT / "src" / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}

    assert expected == held


@pytest.mark.lengthy
def test_the_wheel_names_its_licence_and_its_extras(wheel):
    archive = zipfile.ZipFile(wheel)
    metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA"))

    assert "License-Expression: Apache-2.0" in metadata
    assert {"spark", "report", "connect", "verify", "lake", "explore"} == {
        line.partition(": ")[2] for line in metadata.splitlines() if line.startswith("Provides-Extra")
    }


@pytest.mark.slow
def test_a_type_checker_sees_the_types_of_the_installed_package(wheel, tmp_path):
    pytest.importorskip("mypy")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    (tmp_path / "wrong.py").write_text("import endive\n\nendive.simulate(seed='seven')\n")

    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "--follow-imports=silent", "wrong.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(site), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "wrong.py:3: error:" in found.stdout
