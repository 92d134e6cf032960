"""Makes every page anew: what a page shows is what its commands print.

    python -m tools.make_docs                          all pages, as ``make docs`` does
    python -m tools.make_docs README.md docs/studies/mixed.md
    python -m tools.make_docs --check --quick          compare what is quick, write nothing
    python -m tools.make_docs --list                   what is made how, and what is not run

The marks are HTML comments, which a reader of the page does not see:

    ```console                            every ``console`` block: what follows a line ``$ command`` is its output.
    $ endive run table.toml               A last line ``...`` keeps as many lines as the block has.
    ...
    ```
    <!-- output: lines success | P50 -->  above a block: only lines that hold one of these texts
    <!-- output: slow -->                 above a block: too slow for the quick check
    <!-- output: fails -->                above a block: the command is meant to end with an error
    <!-- output: recorded, needs S3 -->   above a block: it cannot run here; the reason follows
    ```toml                               a block that opens with a file's name is that file, for the commands below it
    # table.toml
    ```
    <!-- run -->                          above a block of Python: it has to run. ``run slowly``: not in the quick check
    <!-- studies -->                      above a block of ``endive sweep`` and ``analyze``: run, or cached
    <!-- made by: COMMAND -->             what stands between this and the next mark is what the command prints, and
    <!-- end -->                          files it writes below docs/ are kept. ``made slowly by``: not quick
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from tools.page_commands import ROOT, Printed, in_shell, run_command, workplace
from tools.study_runs import StudyError, folder_of, provide

# Pages that one command writes as a whole. Those without output write their files themselves.
WHOLE: Final = {"docs/reference/configuration.md": "endive config schema --markdown"}
WRITERS: Final = {
    "docs/reference/configuration.csv": "endive config schema --csv > docs/reference/configuration.csv",
    "docs/model/conflicts.md": "python -m verification.conflicts",
    "docs/validation": "endive verify --out docs/validation",
}
CONSOLE, FILE, SCRIPT, STUDIES, MADE = "console", "file", "script", "studies", "made"
CUT: Final = "..."
_PIECE: Final = re.compile(
    r"(?P<marks>(?:^<!-- (?:output|run|studies).*-->\n)*)^```(?P<language>.*)\n(?P<block>(?:.*\n)*?)```$"
    r"|^<!-- made (?P<slowly>slowly )?by: (?P<command>.*) -->\n(?P<made>(?:.*\n)*?)<!-- end -->$",
    re.MULTILINE,
)
_MARK: Final = re.compile(r"^<!-- (?P<name>output|run|studies|made)(?P<text>.*) -->$", re.MULTILINE)
_FILE: Final = re.compile(r"# (?P<name>[\w.-]+\.(?:toml|py|csv|jsonl))(?:: .*)?\n")
_COMMAND: Final = re.compile(r"(?P<prompt>\$ (?:.*\\\n)*.*\n)(?P<shown>(?:(?!\$ ).*\n)*)")


class PageError(Exception):
    """A page that cannot be made: which line, and why."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a page that is run or made; ``body`` is the text between its marks."""

    kind: str
    start: int  # of the body, in letters
    line: int  # the same in lines, from 1, as editors count
    body: str
    name: str = ""  # of a file; the command of what is made
    is_slow: bool = False
    may_fail: bool = False
    recorded: str = ""  # why the block is not run
    texts: tuple[str, ...] = ()  # lines without any of these are left out


def pieces_of(text: str) -> Iterator[Piece]:
    """Every piece of a page, from top to bottom."""
    end = 0
    for match in _PIECE.finditer(text):
        _refuse_stray_marks(text, end, match.start())
        end = match.end()
        group = "made" if match["command"] else "block"
        start = match.start(group)
        make = partial(Piece, start=start, line=text.count("\n", 0, start) + 1, body=match[group])
        if match["command"]:
            yield make(kind=MADE, name=match["command"], is_slow=bool(match["slowly"]))
            continue
        marks = {mark["name"]: mark["text"] for mark in _MARK.finditer(match["marks"])}
        named = _FILE.match(match["block"])
        if "run" in marks:
            yield make(kind=SCRIPT, is_slow="slowly" in marks["run"])
        elif "studies" in marks:
            yield make(kind=STUDIES, is_slow=True)
        elif named:
            yield make(kind=FILE, name=named["name"])
        elif match["language"] == "console":
            yield make(kind=CONSOLE, **_options(match["marks"], text.count("\n", 0, start) + 1))
    _refuse_stray_marks(text, end, len(text))


def _refuse_stray_marks(text: str, start: int, end: int) -> None:
    mark = _MARK.search(text, start, end)
    if mark:
        line = text.count("\n", 0, mark.start()) + 1
        raise PageError(line, f"'{mark[0]}' is not followed by a block, or by '<!-- end -->' if it says 'made'.")


def _options(marks: str, line: int) -> dict[str, Any]:
    """What the marks above a console block say."""
    said = (mark["text"].removeprefix(":").removeprefix(" ").partition(" ") for mark in _MARK.finditer(marks))
    known = {word.rstrip(","): rest for word, _, rest in said}
    unknown = [word for word in known if word not in ("slow", "fails", "recorded", "lines")]
    if unknown:
        raise PageError(line, f"output: '{unknown[0]}' is unknown. Choose from: slow, fails, recorded, lines.")
    return {
        "is_slow": "slow" in known,
        "may_fail": "fails" in known,
        "recorded": known.get("recorded", ""),
        "texts": tuple(text for text in known.get("lines", "").split(" | ") if text),
    }


def all_pages() -> list[Path]:
    """Every page that holds commands of its own."""
    folders = ("guides", "studies", "reference", "model")
    pages = [ROOT / "README.md", *(page for name in folders for page in sorted((ROOT / "docs" / name).glob("*.md")))]
    return [page for page in pages if str(page.relative_to(ROOT)) not in WRITERS]


def remake(page: Path, *, is_quick: bool, writes: bool) -> str:
    """The page's text with every piece made anew; slow ones stay as they are if only quick ones are wanted."""
    command = WHOLE.get(str(page.relative_to(ROOT)))
    if command:
        return _text_of(_require_success(run_command(command), command, 1).lines)
    text = page.read_text(encoding="utf-8")
    parts, end = [], 0
    with workplace() as folder:
        for piece in pieces_of(text):
            if not (piece.recorded or (is_quick and piece.is_slow)):
                parts += [text[end : piece.start], _make(piece, folder, writes=writes)]
                end = piece.start + len(piece.body)
    return "".join(parts) + text[end:]


def _make(piece: Piece, folder: Path, *, writes: bool) -> str:
    """What stands in the piece's place from now on."""
    if piece.kind == CONSOLE:
        return "".join(match["prompt"] + _output(piece, match) for match in commands_of(piece))
    if piece.kind == MADE:
        return _print_and_keep(piece, folder, writes=writes)
    if piece.kind == STUDIES:
        _provide_studies(piece, folder)
    if piece.kind == FILE:
        (folder / piece.name).write_text(piece.body, encoding="utf-8")
    if piece.kind == SCRIPT:
        (folder / "block.py").write_text(piece.body, encoding="utf-8")
        _require_success(in_shell("python block.py"), "the block of Python", piece.line)
    return piece.body


def commands_of(piece: Piece) -> list[re.Match[str]]:
    """The commands of a ``console`` block, each with what is shown of its output."""
    if not piece.body.startswith("$ "):
        raise PageError(piece.line, "A console block begins with '$ ' and a command.")
    return list(_COMMAND.finditer(piece.body))


def _output(piece: Piece, match: re.Match[str]) -> str:
    """The lines to show below a command."""
    command = " ".join(line.rstrip("\\").strip() for line in match["prompt"].removeprefix("$ ").splitlines())
    line = piece.line + piece.body.count("\n", 0, match.start())
    answer = run_command(command)
    lines = answer.lines if piece.may_fail else _require_success(answer, command, line).lines
    shown = match["shown"].splitlines()
    if piece.texts:
        lines = tuple(each for each in lines if any(text in each for text in piece.texts))
    elif shown and shown[-1] == CUT:
        lines = (*lines[: len(shown) - 1], CUT)
    return _text_of(lines)


def _print_and_keep(piece: Piece, folder: Path, *, writes: bool) -> str:
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
    return f"\n{_text_of(answer.lines)}\n" if answer.lines else piece.body


def _provide_studies(piece: Piece, folder: Path) -> None:
    """Have the folders of a block: each is simulated, or taken from the cache, by itself."""
    by_folder: dict[str, list[str]] = {}
    try:
        for command in piece.body.splitlines():
            if command.startswith(("endive sweep", "endive analyze")):
                by_folder.setdefault(folder_of(command), []).append(command)
        for commands in by_folder.values():
            provide(commands, folder / "out")
    except StudyError as error:
        raise PageError(piece.line, str(error)) from None


def _require_success(answer: Printed, command: str, line: int) -> Printed:
    if answer.exit_code:
        raise PageError(line, f"'{command}' ended with {answer.exit_code}:\n" + "\n".join(answer.lines))
    return answer


def _text_of(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


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
        for piece in pieces_of(page.read_text(encoding="utf-8")):
            how = f"not run: {piece.recorded}" if piece.recorded else "slow" if piece.is_slow else "quick"
            print(f"{page.relative_to(ROOT)}:{piece.line}: {piece.kind}, {how}")
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
