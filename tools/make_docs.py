"""Makes every page anew: what a page shows is what its commands print.

A page is written anew, or compared. The marks in a page are in ``page_pieces``, the running of commands in
``page_commands``, long studies and their cache in ``study_runs``.

    python -m tools.make_docs                          all pages, as ``make docs`` does
    python -m tools.make_docs README.md docs/studies/mixed.md
    python -m tools.make_docs --check --quick          compare what is quick, write nothing
    python -m tools.make_docs --list                   what is made how, and what is not run
"""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tools.page_commands import ROOT, Printed, in_shell, run_command, workplace
from tools.page_pieces import CUT, Kind, PageError, Piece, Shown, commands_of, pieces_of
from tools.study_runs import StudyError, folder_of, provide

# Pages that one command writes as a whole. Those without output write their files themselves.
WHOLE: Final = {"docs/reference/configuration.md": "endive config schema --markdown"}
WRITERS: Final = {
    "docs/model/conflicts.md": "python -m verification.conflicts",
    "docs/validation": "endive verify --out docs/validation",
}
_FOLDERS: Final = ("guides", "studies", "reference", "model")


def all_pages() -> list[Path]:
    """Every page that holds commands of its own."""
    found = [ROOT / "README.md", *(path for name in _FOLDERS for path in sorted((ROOT / "docs" / name).glob("*.md")))]
    return [path for path in found if str(path.relative_to(ROOT)) not in WRITERS]


def remake(page: Path, *, is_quick: bool, writes: bool) -> str:
    """The page's text with every piece made anew; slow ones stay as they are if only quick ones are wanted."""
    name = str(page.relative_to(ROOT))
    text = page.read_text(encoding="utf-8")
    if name in WHOLE:
        return "".join(f"{line}\n" for line in _require_success(run_command(WHOLE[name]), WHOLE[name], 1).lines)
    lines = text.splitlines()
    with workplace() as folder:
        made = [
            (piece, _make(piece, folder, writes=writes))
            for piece in pieces_of(text)
            if not (piece.recorded or (is_quick and piece.is_slow))
        ]
    for piece, body in reversed(made):
        lines[piece.first : piece.first + len(piece.body)] = body
    return "".join(f"{line}\n" for line in lines)


def _make(piece: Piece, folder: Path, *, writes: bool) -> Sequence[str]:
    """What stands in the piece's place from now on."""
    if piece.kind is Kind.CONSOLE:
        return [line for shown in commands_of(piece) for line in (*shown.prompt, *_output(piece, shown))]
    if piece.kind is Kind.MADE:
        return _printed_and_written(piece, folder, writes=writes)
    if piece.kind is Kind.STUDIES:
        _provide_studies(piece, folder)
    if piece.kind is Kind.FILE:
        (folder / piece.name).write_text("".join(f"{line}\n" for line in piece.body), encoding="utf-8")
    if piece.kind is Kind.SCRIPT:
        script = folder / "block.py"
        script.write_text("".join(f"{line}\n" for line in piece.body), encoding="utf-8")
        _require_success(in_shell(f"python {script.name}"), "the block of Python", piece.line)
    return piece.body


def _output(piece: Piece, shown: Shown) -> Sequence[str]:
    """The lines to show below a command."""
    answer = run_command(shown.command)
    lines = answer.lines if piece.may_fail else _require_success(answer, shown.command, shown.line).lines
    if piece.texts:
        return [line for line in lines if any(text in line for text in piece.texts)]
    if shown.lines and shown.lines[-1] == CUT:
        return [*lines[: len(shown.lines) - 1], CUT]
    return lines


def _printed_and_written(piece: Piece, folder: Path, *, writes: bool) -> Sequence[str]:
    """What a command printed; files it wrote below docs/ go to the repository, or are compared with it."""
    for word in piece.name.split():
        if word.startswith("docs/"):
            (folder / word).parent.mkdir(parents=True, exist_ok=True)
    answer = _require_success(run_command(piece.name), piece.name, piece.line)
    for path in sorted((folder / "docs").rglob("*.*")) if (folder / "docs").is_dir() else ():
        kept = ROOT / path.relative_to(folder)
        if writes:
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)
        elif not kept.is_file() or kept.read_bytes() != path.read_bytes():
            raise PageError(piece.line, f"'{piece.name}' writes another {path.relative_to(folder)} than the one kept.")
    return ["", *answer.lines, ""] if answer.lines else piece.body


def _provide_studies(piece: Piece, folder: Path) -> None:
    """Have the folders of a block: each is simulated, or taken from the cache, by itself."""
    by_folder: dict[str, list[str]] = {}
    for command in piece.body:
        if command.startswith(("endive sweep", "endive analyze")):
            by_folder.setdefault(folder_of(command), []).append(command)
    try:
        for commands in by_folder.values():
            provide(commands, folder / "out")
    except StudyError as error:
        raise PageError(piece.line, str(error)) from None


def _require_success(answer: Printed, command: str, line: int) -> Printed:
    if answer.exit_code:
        raise PageError(line, f"'{command}' ended with {answer.exit_code}:\n" + "\n".join(answer.lines))
    return answer


def differences(page: Path, old: str, new: str) -> Iterator[str]:
    """The lines that differ, in the form of a patch: page and line first."""
    name = str(page.relative_to(ROOT))
    kept, made = f"{name} as kept", f"{name} as made"
    yield from difflib.unified_diff(old.splitlines(), new.splitlines(), kept, made, n=1, lineterm="")


def treat(page: Path, *, is_quick: bool, is_check: bool) -> bool:
    """Make or compare one page; whether it was as it should be."""
    name = page.relative_to(ROOT)
    print(name, flush=True)
    try:
        old, new = page.read_text(encoding="utf-8"), remake(page, is_quick=is_quick, writes=not is_check)
    except PageError as error:
        raise SystemExit(f"{name}:{error.line}: {error}") from None
    if old == new:
        return True
    print("\n".join(differences(page, old, new)))
    if not is_check:
        page.write_text(new, encoding="utf-8")
    return False


def _list(pages: Sequence[Path]) -> None:
    for page in pages:
        name = str(page.relative_to(ROOT))
        for piece in pieces_of(page.read_text(encoding="utf-8")):
            how = f"not run: {piece.recorded}" if piece.recorded else "slow" if piece.is_slow else "quick"
            print(f"{name}:{piece.line}: {piece.kind}, {how}")
    for name, command in (*WHOLE.items(), *WRITERS.items()):
        print(f"{name}: {command}")


def main() -> int:
    """Make the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="pages to make; default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page differs")
    parser.add_argument("--quick", action="store_true", help="leave out what is marked slow")
    parser.add_argument("--list", action="store_true", help="say what is made how, and stop")
    given = parser.parse_args()
    pages = [Path(name).resolve() for name in given.pages] or all_pages()
    if given.list:
        _list(pages)
        return 0
    as_made = [treat(page, is_quick=given.quick, is_check=given.check) for page in pages]
    if not (given.pages or given.check or given.quick):
        for name, command in WRITERS.items():
            print(f"{name}: {command}", flush=True)
            ended = in_shell(f"cd {ROOT} && {command}")
            if ended.exit_code:
                raise SystemExit(f"{name}: '{command}' ended with {ended.exit_code}:\n" + "\n".join(ended.lines))
    return 1 if given.check and not all(as_made) else 0


if __name__ == "__main__":
    sys.exit(main())
