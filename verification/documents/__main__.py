"""``python -m verification.documents``: run what shows each requirement and write docs/validation/documents.md.

Tests run in one pytest session, claims as ``endive verify claims`` runs them, runs by themselves. The exit code is 1
if one failed.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from endive import Simulation, load_simulation_config
from endive.results.provenance import MODEL_VERSION
from verification.documents.requirements import (
    DISAGREE,
    DOCUMENTS,
    MEASURED,
    ROOT,
    Document,
    Requirement,
    find_tests,
    read_document,
)
from verification.suites.claims.claims import CLAIMS
from verification.suites.claims.ruling import judge

HOUR_S: Final = 3.6  # what the plan says an hour takes
PAGE = ROOT / "docs/validation/documents.md"
INTRODUCTION = """\
# The first documents, line by line

Five documents described this simulator before it was written: internals (000), plan (001), specification (002),
report (003) and design (004). [Every requirement in them](documents.csv) has a row: its lines, what it asks for, what
Endive does and whom it follows where they disagree, and what shows it: a test, a [claim](claims.md) that a run decides,
or a run. Below is every requirement that is met otherwise than written, or in one place only, and why.
[Deviations](../model/deviations.md) follows the example on which the documents disagree most.

"""
HEADINGS: Final = ("document", "lines", "asks for", "Endive", "shown by")


def run_tests(names: Iterable[str], places: dict[str, str]) -> dict[str, bool]:
    """Whether every case of each named test passed."""
    nodes = sorted({f"{places[name]}::{name}" for name in names})
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *nodes]
        subprocess.run(command, cwd=ROOT, check=False)
        cases = ET.parse(report).getroot().iter("testcase")
        passed: dict[str, bool] = {}
        for case in cases:
            name = case.attrib["name"].partition("[")[0]
            is_good = case.find("failure") is None and case.find("error") is None and case.find("skipped") is None
            passed[name] = passed.get(name, True) and is_good
    return passed


def run_claims(names: Iterable[str]) -> dict[str, bool]:
    """Whether the runs give each named claim the verdict that its page explains."""
    known = {claim.name: claim for claim in CLAIMS}
    return {name: judge(known[name]).verdict == known[name].verdict for name in sorted(set(names))}


def _simulate_an_hour() -> bool:
    """Whether an hour of the plan's experiment 2.1, at 10 txns/s, takes at most 3.6 s of one core."""
    config = load_simulation_config(
        ROOT / "experiments/original/base.toml", ["commit.protocol=merge", "transaction.inter_arrival.scale=100"]
    )
    took_s = []
    for _ in range(4):  # the first one loads the engine
        begun_s = time.process_time()
        Simulation(config).run()
        took_s.append(time.process_time() - begun_s)
    return min(took_s) <= HOUR_S


RUNS: Final[dict[str, Callable[[], bool]]] = {"an hour of the plan": _simulate_an_hour}


def describe(requirement: Requirement, passed: dict[str, bool]) -> tuple[str, bool]:
    """What Endive does about it, in the words of the page, and whether everything named shows it."""
    if not all(passed.get(name, False) for name in (*requirement.tests, *requirement.claims, *requirement.runs)):
        return "**not shown**", False
    if requirement.is_different:
        return f"differs, {requirement.ground}: {requirement.words}", True
    return f"as written: {requirement.words}" if requirement.words else "as written", True


def write_page(documents: list[Document], passed: dict[str, bool]) -> tuple[str, list[tuple[str, ...]], int]:
    """The page, the rows of the table beside it, and how many requirements are not shown."""
    counts = dict.fromkeys(("as written", MEASURED, DISAGREE, "not shown"), 0)
    rows: list[tuple[str, ...]] = []
    lines = ["| document | lines | asks for | Endive |", "|---|---|---|---|"]
    for document in documents:
        for requirement in document.requirements:
            what, is_shown = describe(requirement, passed)
            ground = requirement.ground if requirement.is_different else "as written"
            counts[ground if is_shown else "not shown"] += 1
            claims = (f"claim: {name}" for name in requirement.claims)
            shown_by = "; ".join((*requirement.tests, *claims, *(f"run: {name}" for name in requirement.runs)))
            rows.append((document.title, requirement.lines, requirement.text, what, shown_by))
            if requirement.ground or not is_shown:
                lines.append(f"| {document.title} | {requirement.lines} | {requirement.text} | {what} |")
    summary = (
        f"**{len(rows)} requirements: {counts['as written']} as written; {counts[MEASURED]} differ because something "
        f"was measured and {counts[DISAGREE]} because the documents disagree; {counts['not shown']} not shown.** "
        f"Made by `python -m verification.documents` (model version {MODEL_VERSION}).\n"
    )
    return INTRODUCTION + "\n".join((summary, *lines)) + "\n", rows, counts["not shown"]


def main() -> int:
    """Run everything named, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write; its table goes beside it")
    given = parser.parse_args()
    documents = [read_document(name) for name in DOCUMENTS]
    requirements = [each for document in documents for each in document.requirements]
    passed = run_tests((name for each in requirements for name in each.tests), find_tests())
    passed |= run_claims(name for each in requirements for name in each.claims)
    passed |= {name: RUNS[name]() for each in requirements for name in each.runs}
    page, rows, missing = write_page(documents, passed)
    given.out.write_text(page, encoding="utf-8")
    with given.out.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows((HEADINGS, *rows))
    print(f"{given.out}: {len(requirements)} requirements, {missing} not shown")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
