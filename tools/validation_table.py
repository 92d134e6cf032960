"""The comparisons with real Iceberg and Delta Lake as one small Markdown table, from docs/validation/index.json.

It computes nothing: every figure was written by ``endive verify``.

    python tools/validation_table.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

INDEX: Final = Path(__file__).resolve().parents[1] / "docs" / "validation" / "index.json"
# suite, part, kinds that begin with; what is compared.
ROWS: Final = (
    ("requests", "java", "", "requests of a commit and of a retry, Java Iceberg 1.9 and 1.11"),
    ("requests", "pyiceberg", "", "requests of a commit and of a retry, PyIceberg 0.12"),
    ("requests", "java pairs", "", "who conflicts with whom, Java Iceberg 1.9, 1.10 and 1.11"),
    ("requests", "spark sql", "", "statements beside each other, Spark SQL 4.0 with Iceberg 1.10"),
    ("load", "java", "closed loop: committed per second", "commits per second, jobs on Java Iceberg"),
    ("load", "java", "closed loop: P95 of the commit latency", "P95 of their commit latency"),
    ("load", "java", "beside a stream: committed", "share of commits that succeed beside a stream"),
    ("load", "java loops", "", "mixed jobs without rest on Java Iceberg, every figure"),
    ("load", "pyiceberg", "commits per second", "commits per second, jobs on PyIceberg"),
    ("load", "pyiceberg", "commit latency, p95", "P95 of their commit latency"),
    ("delta", "delta-rs requests", "", "requests of an operation, delta-rs 1.6"),
    ("delta", "delta-rs held out", "", "stories thrown by a die (44 of 60 right the first time), delta-rs 1.6"),
    ("delta", "delta-rs thrown", "", "wider stories (37 of 80 right the first time, then 137 of 140), delta-rs 1.6"),
    ("delta", "delta spark requests", "", "requests of a statement, Delta Spark 4.1"),
    ("delta", "delta-rs verdicts", "", "who conflicts with whom, delta-rs 1.6"),
    ("delta", "delta spark verdicts", "", "who conflicts with whom, Delta Spark 4.1"),
    ("delta", "delta-rs load", "append: committed per second", "commits per second, writers of delta-rs"),
    ("delta", "delta-rs load", "append: P95", "P95 of their commit latency"),
    ("delta", "delta-rs load", "append: retries exhausted", "share of them whose retries run out"),
    ("stores", "", "successes per second", "conditional writes per second of four object stores"),
)


def main() -> None:
    """Print the table."""
    index = json.loads(INDEX.read_text(encoding="utf-8"))
    print("| the model against | checks | within the limit | beyond it | worst error | limit |")
    print("|---|--:|--:|--:|--:|--:|")
    for suite, part, start, words in ROWS:
        parts = [each for each in index[suite] if each["part"] == part]
        kinds = [kind for each in parts for kind in each["kinds"] if kind["name"].startswith(start)]
        judged = [kind for kind in kinds if kind["allowed"]]
        if judged:
            print(f"| [{words}](docs/validation/{suite}.md) | {' | '.join(_cells(judged))} |")


def _cells(kinds: list[dict[str, Any]]) -> list[str]:
    """Sums over kinds of what was judged, and the worst error, in per cent where there are such."""
    right, wrong, unclear = (sum(kind.get(name, 0) for kind in kinds) for name in ("right", "wrong", "unclear"))
    checks = right + wrong + unclear
    beyond = f"{wrong}" + (f", {unclear} unclear" if unclear else "")
    limits = {kind["allowed"] for kind in kinds}
    if limits == {"equal"}:
        return [f"{checks:,}", f"{right:,}", beyond, "none", "equal"]
    shares = [kind for kind in kinds if kind["worst"].endswith("%")] or kinds
    worst = max((kind["worst"] for kind in shares), key=lambda text: abs(float(text.split()[0])))
    return [f"{checks:,}", f"{right:,}", beyond, worst, " or ".join(sorted(limits))]


if __name__ == "__main__":
    main()
