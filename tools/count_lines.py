"""How large the house is: ``python -m tools.count_lines``.

Lines of every part, the files and folders that are larger than we want them, and the words of the documentation. The
limits are those of STYLE in CONTRIBUTING.md: a file of at most 500 lines, a folder of at most 20 files.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FILE_LINES: Final = 500
FOLDER_FILES: Final = 20
CODE: Final = ("src/", "tests/", "verification/", "rigs/", "tools/", "benchmarks/")


def list_files() -> list[Path]:
    """The files git knows, and those it is about to know."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(name) for name in sorted(set(listed.stdout.splitlines())) if (ROOT / name).is_file()]


def lines_of(path: Path) -> int:
    """Lines of a text file."""
    return len((ROOT / path).read_bytes().splitlines())


def count_words(text: str) -> Counter[str]:
    """Words of a page: its sentences, its tables, and what commands print."""
    words, is_code = Counter[str](), False
    for line in text.splitlines():
        is_fence = line.startswith("```")
        is_code ^= is_fence
        words["code" if is_code or is_fence else "tables" if line.startswith("|") else "prose"] += len(line.split())
    return words


def main() -> int:
    """Print the counts."""
    python = {path: lines_of(path) for path in list_files() if path.suffix == ".py"}
    for part in CODE:
        mine = [count for path, count in python.items() if str(path).startswith(part)]
        print(f"{part:<16}{sum(mine):>8,} lines  {len(mine):>5,} files")
    packages = Counter[str]()
    for path, count in python.items():
        if path.parts[:2] == ("src", "endive"):
            packages[path.parts[2] if len(path.parts) > 3 else "(top)"] += count
    print("\nsrc/endive by package: " + ", ".join(f"{name} {count:,}" for name, count in packages.most_common()))
    pages = [(ROOT / path).read_text(encoding="utf-8") for path in list_files() if path.suffix == ".md"]
    words = sum(map(count_words, pages), Counter[str]())
    print(f"\nwords of all pages: {words.total():,}: " + ", ".join(f"{n:,} in {of}" for of, n in words.most_common()))
    long = {path: count for path, count in python.items() if count > FILE_LINES}
    print(f"\nfiles above {FILE_LINES} lines: {len(long)}")
    print("".join(f"  {count:>5,} {path}\n" for path, count in sorted(long.items())), end="")
    folders = Counter(path.parent for path in python if path.name != "__init__.py")
    full = {folder: count for folder, count in sorted(folders.items()) if count > FOLDER_FILES}
    print(f"folders of more than {FOLDER_FILES} files: {len(full)}")
    print("".join(f"  {count:>5,} {folder}\n" for folder, count in full.items()), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
