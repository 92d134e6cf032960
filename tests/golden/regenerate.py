"""Writes the fingerprints of the golden configurations anew: ``python tests/golden/regenerate.py``.

Prints what changed. Whoever runs it explains every changed line in the changelog, under Numbers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
FINGERPRINTS = HERE / "fingerprints.json"
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "src")]

from tests.golden.configurations import CONFIGURATIONS  # noqa: E402

from endive import simulate  # noqa: E402


def main() -> None:
    old = json.loads(FINGERPRINTS.read_text()) if FINGERPRINTS.exists() else {}
    new = {}
    for name, config in CONFIGURATIONS.items():
        result = simulate(config, engine="reference")
        rows = result.transactions.column("status").to_pylist()
        new[name] = {
            "fingerprint": result.fingerprint,
            "txns": len(rows),
            "committed": rows.count("committed"),
            "aborted": rows.count("aborted"),
        }
        if old.get(name) != new[name]:
            print(f"{name}: {old.get(name)} -> {new[name]}")
    FINGERPRINTS.write_text(json.dumps(new, indent=2) + "\n")


if __name__ == "__main__":
    main()
