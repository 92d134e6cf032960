"""The parts of a page that a command makes: what they are and where they stand.

Running the commands is in ``page_commands``, writing the pages in ``make_docs``. The marks are HTML comments, which a
reader of the page does not see:

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

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

FENCE: Final = "```"
CUT: Final = "..."
PROMPT: Final = "$ "
_MARK: Final = re.compile(
    r"<!-- (?P<name>output|run|studies|made by|made slowly by)(?P<slowly> slowly)?(?:: ?(?P<text>.*))? -->$"
)
_END: Final = "<!-- end -->"
_FILE: Final = re.compile(r"# (?P<name>[\w.-]+\.(?:toml|py|csv|jsonl))(?:: .*)?$")


class PageError(Exception):
    """A page that cannot be made: which line, and why."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Kind(StrEnum):
    """What a piece of a page is."""

    CONSOLE = "console"
    FILE = "file"
    SCRIPT = "script"
    STUDIES = "studies"
    MADE = "made"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a page between two lines; ``body`` are the lines between its marks."""

    kind: Kind
    first: int  # number of the first line of the body, from 0
    body: tuple[str, ...]
    name: str = ""  # of a file; the command of what is made
    is_slow: bool = False
    may_fail: bool = False
    recorded: str = ""  # why the block is not run
    texts: tuple[str, ...] = ()  # lines without any of these are left out

    @property
    def line(self) -> int:
        """Where it stands, from 1, as editors count."""
        return self.first + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A command of a ``console`` block and the lines below it."""

    command: str
    prompt: tuple[str, ...]  # the lines of the command itself
    lines: tuple[str, ...]
    line: int


def pieces_of(text: str) -> Iterator[Piece]:
    """Every piece of a page, from top to bottom."""
    lines = text.splitlines()
    at = 0
    marks: list[re.Match[str]] = []
    while at < len(lines):
        mark = _MARK.match(lines[at])
        if mark and mark["name"].startswith("made"):
            end = _place_of(_END, lines, at)
            yield Piece(
                kind=Kind.MADE,
                first=at + 1,
                body=tuple(lines[at + 1 : end]),
                name=mark["text"],
                is_slow="slowly" in mark["name"],
            )
            at, marks = end + 1, []
        elif mark:
            marks.append(mark)
            at += 1
        elif lines[at].startswith(FENCE):
            end = _place_of(FENCE, lines, at)
            piece = _read_fence(lines[at].removeprefix(FENCE), at + 1, tuple(lines[at + 1 : end]), marks)
            if piece:
                yield piece
            at, marks = end + 1, []
        else:
            if marks:
                raise PageError(at, f"'{marks[-1][0]}' is not followed by a block. Put it on the line above one.")
            at += 1


def _place_of(wanted: str, lines: list[str], start: int) -> int:
    for at in range(start + 1, len(lines)):
        if lines[at] == wanted:
            return at
    raise PageError(start + 1, f"'{lines[start]}' has no '{wanted}' after it.")


def _read_fence(language: str, first: int, body: tuple[str, ...], marks: list[re.Match[str]]) -> Piece | None:
    """What a fenced block is; None for one that nothing makes."""
    named = _FILE.match(body[0]) if body else None
    for mark in marks:
        if mark["name"] == "run":
            return Piece(kind=Kind.SCRIPT, first=first, body=body, is_slow=bool(mark["slowly"]))
        if mark["name"] == "studies":
            return Piece(kind=Kind.STUDIES, first=first, body=body, is_slow=True)
    if named:
        return Piece(kind=Kind.FILE, first=first, body=body, name=named["name"])
    if language != "console":
        return None
    said = [(mark["text"] or "").partition(" ") for mark in marks]
    known = {word.rstrip(","): rest for word, _, rest in said}
    unknown = [word for word in known if word not in ("slow", "fails", "recorded", "lines")]
    if unknown:
        raise PageError(first, f"output: '{unknown[0]}' is unknown. Choose from: slow, fails, recorded, lines.")
    return Piece(
        kind=Kind.CONSOLE,
        first=first,
        body=body,
        is_slow="slow" in known,
        may_fail="fails" in known,
        recorded=known.get("recorded", ""),
        texts=tuple(text for text in known.get("lines", "").split(" | ") if text),
    )


def commands_of(piece: Piece) -> Iterator[Shown]:
    """The commands of a ``console`` block, each with what is shown of its output."""
    at, body = 0, piece.body
    while at < len(body):
        if not body[at].startswith(PROMPT):
            raise PageError(piece.line + at, f"'{body[at]}' stands above the first command. Begin with '{PROMPT}'.")
        start = at
        while body[at].endswith("\\"):
            at += 1
        prompt = body[start : at + 1]
        command = " ".join(line.removeprefix(PROMPT).rstrip("\\").strip() for line in prompt)
        at += 1
        shown = at
        while at < len(body) and not body[at].startswith(PROMPT):
            at += 1
        yield Shown(command=command, prompt=prompt, lines=body[shown:at], line=piece.line + start)
