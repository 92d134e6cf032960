"""``python -m verification.documents``: run what shows each requirement and write docs/validation/documents.md.

Tests run in one pytest session, claims as ``endive verify claims`` runs them. The exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

from endive.results.provenance import MODEL_VERSION
from endive.verification.claims.claims import CLAIMS
from endive.verification.claims.ruling import judge
from verification.documents.requirements import DOCUMENTS, ROOT, Document, Requirement, find_tests, read_document

PAGE = ROOT / "docs/validation/documents.md"
INTRODUCTION = """\
# The first documents, line by line

Five documents described this simulator before it was written. Each row below is something they ask for, with its
lines, what Endive does, and what shows it: a test of this repository, or a [claim](claims.md) that a run decides.
Where Endive does otherwise, the row says why; the page [deviations](../model/deviations.md) says more.

"""


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


def describe(requirement: Requirement, tests: dict[str, bool], claims: dict[str, bool]) -> tuple[str, bool]:
    """What Endive does about it, in the words of the page, and whether everything named shows it."""
    is_shown = all(tests.get(name, False) for name in requirement.tests)
    is_shown = is_shown and all(claims.get(name, False) for name in requirement.claims)
    if not is_shown:
        return "**not shown**", False
    return (f"differs: {requirement.difference}" if requirement.is_different else "as written"), True


def write_page(documents: list[Document], tests: dict[str, bool], claims: dict[str, bool]) -> tuple[str, int]:
    """The page, and how many requirements are not shown."""
    lines, counts = [INTRODUCTION], {"as written": 0, "differs": 0, "not shown": 0}
    body: list[str] = []
    for document in documents:
        body += [f"## {document.title}\n", "| lines | asks for | Endive | shown by |", "|---|---|---|---|"]
        for requirement in document.requirements:
            what, is_shown = describe(requirement, tests, claims)
            counts["not shown" if not is_shown else "differs" if requirement.is_different else "as written"] += 1
            shown_by = "<br>".join(
                [f"`{name}`" for name in requirement.tests] + [f"claim *{name}*" for name in requirement.claims]
            )
            body.append(f"| {requirement.lines} | {requirement.text} | {what} | {shown_by} |")
        body.append("")
    total = sum(counts.values())
    lines.append(
        f"**{total} requirements: {counts['as written']} as written, {counts['differs']} differ and say why, "
        f"{counts['not shown']} not shown.** Made by `python -m verification.documents` "
        f"(model version {MODEL_VERSION}).\n"
    )
    return "\n".join(lines + body), counts["not shown"]


def main() -> int:
    """Run everything named, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    given = parser.parse_args()
    documents = [read_document(name) for name in DOCUMENTS]
    requirements = [each for document in documents for each in document.requirements]
    tests = run_tests((name for each in requirements for name in each.tests), find_tests())
    claims = run_claims(name for each in requirements for name in each.claims)
    page, missing = write_page(documents, tests, claims)
    given.out.write_text(page, encoding="utf-8")
    print(f"{given.out}: {len(requirements)} requirements, {missing} not shown")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
