"""The documents' system, tried as its author would: ``python -m verification.documents.acceptance``.

The tests that show points 1 to 6 of what it promises, and the figures of appendix A under ``simulation.model =
"documents"``. The exit code is 1 if one fails.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Final

from endive import simulate
from endive.config import apply_overrides, read_toml
from verification.documents.requirements import ROOT

APPENDIX_A: Final = ROOT / "tests/config/good/specification.toml"
APPEND_DESIGN: Final = ROOT / "tests/config/good/append_design.toml"
P50_MS, P95_MS, TOLERANCE = 127.0, 31_000.0, 0.02
TESTS: Final = (
    "tests/config/test_document_switches.py",  # 1 switches, 3 refusals, 4 the model
    "tests/simulation/test_extending.py",  # 2 classes
    "tests/simulation/test_simpy.py",  # 5 SimPy
    "tests/first_names",
)
STUDY: Final = """
base = "{base}"
seeds = 1
[study]
name = "modes"
[set]
"simulation.duration_ms" = 60_000
[axes]
"catalog.mode" = ["cas", "append"]
"transaction.manifest_list_mode" = ["rewrite", "append"]
"""


def appendix_a() -> bool:
    """Compare the latencies of appendix A with what is expected of them."""
    config = apply_overrides(read_toml(APPENDIX_A), {"simulation.model": "documents"})
    latency_ms = simulate(config).summary()["commit_latency_ms"]
    print(f"appendix A: P50 {latency_ms['p50']:.1f} ms, P95 {latency_ms['p95']:.0f} ms")
    told = ((latency_ms["p50"], P50_MS), (latency_ms["p95"], P95_MS))
    return all(abs(found - expected) <= TOLERANCE * expected for found, expected in told)


def counters() -> bool:
    """Look for the documents' counters in a result and in the page that maps them."""
    result = simulate(read_toml(APPEND_DESIGN))
    page = (ROOT / "docs/reference/results.md").read_text(encoding="utf-8")
    names = vars(type(result.statistics.counters))["__dataclass_fields__"]
    missing = [name for name in names if f"`{name}`" not in page]
    print(f"counters: {len(names)}, {len(missing)} not on the page")
    return not missing


def sweep() -> bool:
    """Sweep both modes of catalog and lists over the append design's block, on Spark, and draw the report."""
    with tempfile.TemporaryDirectory() as folder:
        study, out = Path(folder) / "modes.toml", Path(folder) / "out"
        study.write_text(STUDY.format(base=APPEND_DESIGN), encoding="utf-8")
        for command in (["sweep", str(study), "--out", str(out)], ["analyze", str(out)], ["report", str(out)]):
            done = subprocess.run(
                [str(Path(sys.executable).with_name("endive")), *command], capture_output=True, text=True
            )
            if done.returncode:
                print(done.stderr)
                return False
    return True


def main() -> int:
    """Run everything and say what failed."""
    warnings.simplefilter("ignore")
    passed = {
        "tests": subprocess.run([sys.executable, "-m", "pytest", "-q", *TESTS], cwd=ROOT).returncode == 0,
        "appendix A": appendix_a(),
        "counters": counters(),
        "sweep": sweep(),
    }
    for name, is_good in passed.items():
        print(f"{name}: {'as expected' if is_good else 'FAILED'}")
    return 0 if all(passed.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
