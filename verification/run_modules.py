"""The commands of a folder, one module each: listed, or run one after another, each in a process of its own."""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from pathlib import Path

Commands = dict[str, tuple[str, list[str]]]  # name -> first line, arguments of Python


def commands_in(folder: Path) -> Commands:
    """Every module with a ``main``."""
    found: Commands = {}
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        has_main = any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
        if has_main and not path.name.startswith("__"):
            title = (ast.get_docstring(tree) or "").partition("\n")[0]
            found[path.stem] = (title, ["-m", f"{folder.name}.{path.stem}"])
    return found


def run_commands(known: Commands, doc: str | None, noun: str, folder: Path) -> int:
    """List or run those that the arguments name; 1 if one failed."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which ones: {', '.join(known)}")
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"no {noun} is called {', '.join(unknown)}. Choose from: {', '.join(known)}.")
    if given.list:
        for name, (title, _) in known.items():
            print(f"{name:{max(map(len, known))}} {title}")
        return 0
    failed = []
    for name in given.names or known:
        title, command = known[name]
        print(f"\n== {name}: {title}", flush=True)
        if subprocess.run([sys.executable, *command], cwd=folder, check=False).returncode:
            failed.append(name)
    print(f"\n{len(failed)} failed: {', '.join(failed)}" if failed else "\nall passed")
    return 1 if failed else 0
