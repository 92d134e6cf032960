"""Longer than a turn of CI: everything that breaks things, one after another, for an hour; and a page of what it found.

    python -m verification.soak                     make soak
    python -m verification.soak --minutes 6         a tenth of it
    python -m verification.soak --only page         one part
    python -m verification.soak --piece 6           six minutes of the part that is furthest behind its share

Each part is a command of its own with a share of the time. What was run and found is appended to
docs/validation/soak.md, with its date; a part that fails is told there too, and ends the command with 1. Pieces are
remembered in out/soak.json until they make up the whole, which is then written as one entry.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from verification.recordings import today

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "validation" / "soak.md"
PIECES: Final = ROOT / "out" / "soak.json"
MINUTES: Final = 60.0
GRACE_S: Final = 900.0  # for a part to finish what it has begun


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of trouble: what it is, its share of the time, and the module that makes it."""

    name: str
    about: str
    share: float
    module: str


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a part: how long it took, how it ended, and its last words."""

    part: Part
    minutes: float
    code: int
    told: str


PARTS: Final = (
    Part("engines", "both engines on random configurations", 0.25, "verification.fuzz_engines"),
    Part("files", "mutated configurations, tables, folders and questions", 0.2, "verification.fuzz_config"),
    Part("sweeps", "sweeps that are killed, filled up, or whose clock jumps", 0.25, "verification.chaos"),
    Part("analyses", "analyses and reports that are killed", 0.1, "verification.soak_analyses"),
    Part("page", "a live page with 50 clients, whose processes are killed", 0.1, "verification.soak_page"),
    Part("mistakes", "listed mistakes, planted: does a test notice?", 0.1, "tools.mutate"),
)


def run_part(part: Part, minutes: float) -> Ran:
    """Run a part; its output is shown, and its last line is kept, or its last complaint if it failed."""
    begin_s = time.monotonic()
    command = [sys.executable, "-m", part.module, "--minutes", f"{minutes:.2f}"]
    print(f"--- {part.name}: {part.about}, {minutes:.1f} min", flush=True)
    try:
        ended = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60.0 * minutes + GRACE_S
        )
        code, text, complaints = ended.returncode, ended.stdout, ended.stderr
    except subprocess.TimeoutExpired:
        code, text, complaints = -1, f"did not end within {GRACE_S:.0f} s of its time", ""
    print(text + complaints, flush=True)
    told = text if code == 0 else text + complaints  # stderr has the warnings of libraries too
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return Ran(part, (time.monotonic() - begin_s) / 60.0, code, lines[-1] if lines else "said nothing")


def entry(ran: list[Ran], date: str) -> str:
    """What the page says of one soak."""
    rows = "\n".join(
        f"| {each.part.name} | {each.minutes:.1f} | {'held' if each.code == 0 else f'FAILED ({each.code})'} | "
        f"{each.told.replace('|', '/')} |"
        for each in ran
    )
    total = sum(each.minutes for each in ran)
    return (
        f"\n## {date}, {total:.0f} minutes\n\n| part | minutes | outcome | last words |\n|---|---:|---|---|\n{rows}\n"
    )


def run_piece(ran: list[Ran], minutes: float) -> list[Ran]:
    """The pieces so far, and one more: of the part that has had least of its share."""
    had = {part.name: sum(each.minutes for each in ran if each.part is part) for part in PARTS}
    behind = min(PARTS, key=lambda part: had[part.name] / part.share)
    return [*ran, run_part(behind, minutes)]


def read_pieces(path: Path) -> list[Ran]:
    """What was run before; none if nothing was."""
    parts = {part.name: part for part in PARTS}
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return [Ran(parts[name], minutes, code, told) for name, minutes, code, told in found]


def write_pieces(path: Path, ran: list[Ran]) -> None:
    """Remember them for the next piece."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([(each.part.name, each.minutes, each.code, each.told) for each in ran]), "utf-8")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--only", choices=[part.name for part in PARTS])
    parser.add_argument("--page", type=Path, default=PAGE, help="where the entry is appended")
    parser.add_argument(
        "--piece", type=float, metavar="MINUTES", help="a piece of the whole, remembered in out/soak.json"
    )
    options = parser.parse_args()
    if options.piece is not None:
        ran = run_piece(read_pieces(PIECES), options.piece)
        if sum(each.minutes for each in ran) < options.minutes:
            write_pieces(PIECES, ran)
            return 1 if ran[-1].code else 0
        PIECES.unlink(missing_ok=True)
    else:
        chosen = [part for part in PARTS if options.only in (None, part.name)]
        whole = sum(part.share for part in chosen)
        ran = [run_part(part, options.minutes * part.share / whole) for part in chosen]
    date = today()
    with options.page.open("a", encoding="utf-8") as page:
        page.write(entry(ran, date))
    failed = sorted({each.part.name for each in ran if each.code})
    parts = {each.part.name for each in ran}
    print(
        f"{len(parts) - len(failed)} of {len(parts)} parts held" + (f"; failed: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
