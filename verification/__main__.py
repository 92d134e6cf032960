"""``python -m verification``: everything slow. Writes ``docs/validation`` anew and runs the tests marked slow.

Each check runs in a process of its own; the exit code is 1 if one failed.

    python -m verification                all, as ``make verify`` does
    python -m verification --list
    python -m verification pages          docs/validation only: ``endive verify --out docs/validation``
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
VALIDATION = "docs/validation"


def checks() -> dict[str, tuple[str, list[str]]]:
    """Name, first line and command of every check."""
    found = {
        "pages": (
            f"Every suite of 'endive verify', written to {VALIDATION}.",
            ["-m", "endive.cli.main", "verify", "--out", VALIDATION],
        ),
        "slow_tests": ("The tests marked slow.", ["-m", "pytest", "-q", "-m", "slow"]),
    }
    for path in sorted(HERE.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        has_main = any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
        if has_main and not path.name.startswith("__"):
            title = (ast.get_docstring(tree) or "").partition("\n")[0]
            found[path.stem] = (title, ["-m", f"verification.{path.stem}"])
    return found


def main() -> int:
    """List or run."""
    known = checks()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which ones: {', '.join(known)}")
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"no check is called {', '.join(unknown)}. Choose from: {', '.join(known)}.")
    if given.list:
        for name, (title, _) in known.items():
            print(f"{name:14} {title}")
        return 0
    failed = []
    for name in given.names or known:
        title, command = known[name]
        print(f"\n== {name}: {title}", flush=True)
        if subprocess.run([sys.executable, *command], cwd=HERE.parent, check=False).returncode:
            failed.append(name)
    print(f"\n{len(failed)} failed: {', '.join(failed)}" if failed else "\nall passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
