"""``python -m benchmarks``: list the benchmarks, run some, or run all of them one after another.

Each runs in a process of its own, so that none is measured with the memory or the compiled code of another.

    python -m benchmarks                  all
    python -m benchmarks --list
    python -m benchmarks engines growth
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def benchmarks() -> dict[str, str]:
    """Name and first line of every benchmark."""
    found = {}
    for path in sorted(HERE.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        has_main = any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
        if has_main and not path.name.startswith("__"):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def main() -> int:
    """List or run."""
    known = benchmarks()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which ones: {', '.join(known)}")
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}. Choose from: {', '.join(known)}.")
    if given.list:
        for name, title in known.items():
            print(f"{name:12} {title}")
        return 0
    failed = []
    for name in given.names or known:
        print(f"\n== {name}: {known[name]}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], cwd=HERE.parent, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
