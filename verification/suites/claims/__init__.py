"""Suite ``claims``: the documents the model was described in, held against our own runs.

The figures that must come out are in ``worked_examples``, the claims in ``claims``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from endive.verification.suite import Check, Options, Outcome, Table, provenance
from verification.suites.claims.claims import CLAIMS
from verification.suites.claims.page_claims import quoted_claims
from verification.suites.claims.ruling import HOLDS, Finding, judge
from verification.suites.claims.worked_examples import figure_checks

_INTRO: Final = """
Five documents described this simulator before it was written: the *internals* of an earlier one, its *experiment plan*,
a *refactoring specification*, a *fidelity report* that held the earlier model against Iceberg's source, and an *append
design* for a catalog kept as a log. Their claims are held against our own runs, and so are sentences of the README and
the guides, word for word. The file has the commands that repeat a row, and the documents' own worked examples.

`iceberg` is Java Iceberg as recorded ([requests](requests.md)), `pyiceberg` PyIceberg, `spec` the refactoring
specification's protocol, `merge` that of internals and experiment plan. A claim about Iceberg is judged under
`iceberg`. Numbers are of one seed: they show a direction and a size.
"""

_REMARKS: Final = """
Not put to the test: claims about the earlier simulator's speed and code; the experiment plan's experiments as a whole,
which are studies of their own (`experiments/original`); line numbers of Iceberg's source; 50 appends per second to one
table, which no store and catalog measured here lets through ([theory](theory.md), [stores](stores.md)).
"""


def run(options: Options) -> Outcome:
    """The claims and the worked examples; quick leaves out the claims that need long runs."""
    findings = [judge(claim) for claim in (*CLAIMS, *quoted_claims()) if not (options.is_quick and claim.is_long)]
    checks = [_check(each) for each in findings] + list(figure_checks())
    return Outcome(
        intro=_INTRO,
        checks=tuple(checks),
        tables=_tables(findings),
        remarks=_REMARKS,
        provenance=provenance(seed=1),
    )


def _check(finding: Finding) -> Check:
    """That the run still says what the page says of the claim."""
    return Check.exact(
        "verdict on a claim",
        {"claim": finding.claim.name},
        expected=finding.claim.verdict,
        actual=finding.verdict,
        note=" ; ".join(finding.commands),
    )


def _tables(findings: Sequence[Finding]) -> tuple[Table, ...]:
    """What does not hold is for the page; all of it is a file, being long."""
    headings = ("document", "claim", "verdict", "what our run says")
    rows = tuple((each.claim.document, each.claim.text, each.verdict, each.what) for each in findings)
    return (
        Table(
            title="What does not hold, or only in part",
            headings=headings[1:],
            rows=tuple(row[1:] for row in rows if row[2] != HOLDS),
        ),
        Table(title="Every claim, and what came out", headings=headings, rows=rows),
    )
