"""The comparisons with real Iceberg and Delta Lake as one small Markdown table, from docs/validation/index.json.

It computes nothing: every figure was written by ``endive verify``.

    python tools/validation_table.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

INDEX: Final = Path(__file__).resolve().parents[1] / "docs" / "validation" / "index.json"
RS_FIRST: Final = "right the first time: 44 of 60, then 37 of 80, then 137 of 140"
# What is compared, and of which suite, part and kinds (by how their name begins) the figures are.
ROWS: Final = (
    ("requests of a commit: Java Iceberg, PyIceberg", ("requests", "java", ""), ("requests", "pyiceberg", "")),
    (
        "who conflicts with whom: Java Iceberg, Spark SQL",
        *(("requests", part, "") for part in ("java pairs", "java held out", "spark sql", "spark looks")),
    ),
    (
        "requests and verdicts of Delta Lake: delta-rs, Delta Spark",
        *(
            ("delta", f"{client} {part}", "")
            for part in ("requests", "verdicts")
            for client in ("delta-rs", "delta spark")
        ),
    ),
    (
        f"stories of delta-rs thrown by a die ({RS_FIRST})",
        *(("delta", f"delta-rs {part}", "") for part in ("held out", "thrown")),
    ),
    (
        "commits per second: Java Iceberg, PyIceberg",
        ("load", "java", "closed loop: committed per second"),
        ("load", "pyiceberg", "commits per second"),
    ),
    (
        "P95 of their commit latency",
        ("load", "java", "closed loop: P95 of the commit latency"),
        ("load", "pyiceberg", "commit latency, p95"),
    ),
    ("share of commits that succeed beside a stream", ("load", "java", "beside a stream: committed")),
    ("mixed jobs without rest on Java Iceberg, every figure", ("load", "java loops", "")),
    (
        "commits per second: delta-rs, Delta Spark",
        ("delta", "delta-rs load", "append: committed per second"),
        ("delta", "delta spark load", "INSERT: committed per second"),
    ),
    (
        "every other figure of those writers",
        ("delta", "delta-rs load", "append: "),
        ("delta", "delta spark load", "INSERT: "),
    ),
    ("a lakehouse of Spark and PyIceberg, fitted from its table and its logs", ("replay", "lakehouse", "")),
    ("conditional writes per second of object stores", ("stores", "", "successes per second")),
)


def main() -> None:
    """Print the table."""
    index = json.loads(INDEX.read_text(encoding="utf-8"))
    print("| the model against | checks | within the limit | beyond it | worst error | limit |")
    print("|---|--:|--:|--:|--:|--:|")
    named: set[tuple[str, str, str]] = set()
    for words, *wanted in ROWS:
        judged = []
        for suite, part, start in wanted:
            kinds = [kind for each in index[suite] if each["part"] == part for kind in each["kinds"]]
            chosen = [kind for kind in kinds if kind["name"].startswith(start) and kind["allowed"]]
            judged += [kind for kind in chosen if (suite, part, kind["name"]) not in named]
            named |= {(suite, part, kind["name"]) for kind in chosen}
        if judged:
            print(f"| [{words}](docs/validation/{wanted[0][0]}.md) | {' | '.join(_cells(judged))} |")


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
