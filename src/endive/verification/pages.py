"""The pages of ``docs/validation``: a page per suite, its plots and long tables beside it, and an index.

How a plot is drawn: ``endive.report.agreement``.

A page is a function of its outcome, so that the same model writes the same bytes. It keeps short tables; of long ones
it keeps whatever is wrong, and a CSV beside it has every row. The index keeps what it knew of suites that did not run
this time (``index.json``).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from endive.errors import OutputError
from endive.verification.suite import RIGHT, SHOWN, UNCLEAR, VERDICTS, WRONG, Check, Figure, Outcome, Table, Value
from endive.verification.suites import NAMES, suites_here
from endive.verification.texts import EQUAL, allowed_text, doubtful_text, error_text, limits_text, value_text, worst_of

_INDEX_DATA: Final = "index.json"
_INDEX_PAGE: Final = "README.md"
ROWS_ON_PAGE: Final = 16
JOINT_MIN: Final = 10  # comparisons with noise, to be judged together too
LEAN_CHANCE: Final = 0.05  # that any kind of check is said to lean if none does


class PageFolder:
    """A folder of pages that one or several suites write to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ".writable").touch()
            (folder / ".writable").unlink()
        except OSError as error:
            raise OutputError(
                f"--out = '{folder}' cannot be written to: {error.strerror}. Name another folder."
            ) from None

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """The pages of these outcomes, and the index of all."""
        by_suite: dict[str, list[Outcome]] = {}
        for outcome in outcomes:
            by_suite.setdefault(outcome.suite, []).append(outcome)
        index = self._read_index()
        titles = {suite.name: suite.title for suite in suites_here()}
        for suite, parts in by_suite.items():
            for figure in (each for part in parts for each in part.figures):
                self._write(f"{figure.name}.svg", _svg(figure))
            self._write(f"{suite}.md", suite_page(titles[suite], parts))
            for stale in (*self._folder.glob(f"{suite}.csv"), *self._folder.glob(f"{suite}-*.csv")):
                stale.unlink()
            for name, text in row_files(suite, parts).items():
                self._write(name, text)
            index[suite] = [summary(part) for part in parts]
        ordered = {name: index[name] for name in NAMES if name in index}
        self._write(_INDEX_DATA, json.dumps(ordered, indent=1) + "\n")
        self._write(_INDEX_PAGE, index_page(titles, ordered))

    def _read_index(self) -> dict[str, Any]:
        path = self._folder / _INDEX_DATA
        if not path.exists():
            return {}
        try:
            index = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise OutputError(f"'{path}' is not JSON. Remove it and run every suite again.") from None
        return dict(index)

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="utf-8")


def summary(outcome: Outcome) -> dict[str, Any]:
    """What the index says of an outcome."""
    return {
        "part": outcome.part,
        "skipped": outcome.skipped,
        "command": outcome.command,
        "kinds": [_kind(name, checks) for name, checks in kinds(outcome.checks).items()],
        **{verdict: outcome.count(verdict) for verdict in VERDICTS},
    }


def kinds(checks: Iterable[Check]) -> dict[str, list[Check]]:
    """Checks by what they compare, in the order they were made."""
    by_kind: dict[str, list[Check]] = {}
    for check in checks:
        by_kind.setdefault(check.name, []).append(check)
    return by_kind


def _kind(name: str, checks: list[Check]) -> dict[str, Any]:
    judged = [check for check in checks if check.verdict != SHOWN]
    return {
        "name": name,
        "checks": len(checks),
        **{verdict: sum(check.verdict == verdict for check in judged) for verdict in (RIGHT, WRONG, UNCLEAR)},
        "worst": error_text(worst_of(checks)),
        "allowed": limits_text(checks),
    }


def _svg(figure: Figure) -> str:
    try:
        from endive.report.agreement import draw_agreement
    except ImportError as error:
        raise OutputError(
            f"--out draws plots, and {error.name} is not installed. Install the extra: pip install 'endive[report]'."
        ) from None
    return draw_agreement(figure)


# ---- pages -------------------------------------------------------------------------------------------


def index_page(titles: Mapping[str, str], index: Mapping[str, list[dict[str, Any]]]) -> str:
    """Every suite: how many of its checks are right, wrong or unclear."""
    lines = [
        "# Validation",
        "",
        "What the model was held against. `make verify` writes all pages, `endive verify SUITE --out docs/validation`",
        "one. *Right* is within what the check allows, *unclear* beyond it by less than the sampling error of both",
        "sides (behind ±), *wrong* beyond that; *shown* has no limit. An error is positive where the model says more.",
        "",
        "| suite | what is compared | right | wrong | unclear | shown |",
        "|---|---|--:|--:|--:|--:|",
    ]
    lines += [_index_row(name, titles.get(name, name), parts) for name, parts in index.items()]
    return "\n".join(lines) + "\n"


def _index_row(name: str, title: str, parts: Sequence[dict[str, Any]]) -> str:
    """A suite, all its parts together; those that did not run are named."""
    row = f"| [{name}]({name}.md) | {_escape(title)}"
    for part in (each for each in parts if each["skipped"] is not None):
        row += f"; {part['part']} did not run: " if part["part"] else "; did not run: "
        row += _escape(part["skipped"])
    right, wrong, unclear, shown = (sum(part[verdict] for part in parts) for verdict in VERDICTS)
    return f"{row} | {right:,} | {f'**{wrong:,}**' if wrong else '0'} | {unclear:,} | {shown:,} |"


def suite_page(title: str, parts: Sequence[Outcome]) -> str:
    """Everything a suite found; of parts whose rows are in a file, what is not right and the worst of each kind."""
    has_rows = any(_is_long(part.checks) for part in parts)
    lines = [f"# {title}", "", *_how_made(parts, has_rows)]
    for part in parts:
        lines += _part_lines(part, has_rows)
    return "\n".join(lines).rstrip() + "\n"


def _how_made(parts: Sequence[Outcome], has_rows: bool) -> list[str]:
    """Which commands make the page, and where every row is."""
    commands = " and ".join(f"`{command}`" for command in dict.fromkeys(part.command for part in parts) if command)
    made = [f"Made by {commands}."] if commands else []
    rows = [f"Every row: [{parts[0].suite}.csv]({parts[0].suite}.csv)."] if has_rows else []
    return [" ".join(made + rows), ""] if made or rows else []


def _part_lines(outcome: Outcome, has_rows: bool) -> list[str]:
    lines = [f"## {outcome.part}", ""] if outcome.part else []
    lines += _verdict_lines(outcome)
    if outcome.intro:
        lines += [outcome.intro.strip(), ""]
    for figure in outcome.figures:
        lines += [f"![{figure.title}]({figure.name}.svg)", ""]
        lines += [figure.note, ""] if figure.note else []
    for table in outcome.tables:
        lines += _table_lines(outcome.suite, table)
    lines += _summary_lines(outcome) if has_rows else []
    shown = [check for check in outcome.checks if check.verdict == WRONG or not has_rows]
    for kind, checks in kinds(shown).items():
        lines += _check_lines(kind, checks)
    if outcome.remarks:
        lines += [outcome.remarks.strip(), ""]
    return lines


def _verdict_lines(outcome: Outcome) -> list[str]:
    facts = ", ".join(f"{name.replace('_', ' ')} {value_text(value)}" for name, value in outcome.provenance.items())
    if outcome.skipped is not None:
        return [f"**Skipped.** {outcome.skipped}", ""]
    right, wrong, unclear, shown = (outcome.count(verdict) for verdict in VERDICTS)
    judged = right + wrong + unclear
    counts = f"{right:,} of {judged:,} checks" if unclear else f"all {right:,} checks"
    verdict = f"**Wrong: {wrong:,} of {judged:,} checks.**" if wrong else f"**Right: {counts}.**"
    rest = f" {unclear:,} [unclear]({_INDEX_PAGE})." if unclear else ""
    rest += f" {shown:,} more are shown without a limit." if shown else ""
    rest += joint_text(outcome)
    return [f"{verdict}{rest}{f' ({facts})' if facts else ''}", ""]


def joint_text(outcome: Outcome) -> str:
    """All comparisons with noise together: how many differ by more than that of both sides, and how many may."""
    judged = [check for check in outcome.checks if check.doubt and check.allowed is not None]
    if len(judged) < JOINT_MIN:
        return ""
    beyond, most = sum(abs(check.error or 0.0) > check.doubt for check in judged), misses_max(len(judged))
    sides = "noise may explain all of it" if beyond <= most else "the model is off by more than noise in some"
    return (
        f" Jointly: {beyond:,} of {len(judged):,} differ by more than noise (by chance up to {most:,}), so "
        f"{sides}.{_lean_text(judged)}"
    )


def misses_max(comparisons: int, share: float = 0.05, chance: float = 0.05) -> int:
    """How many of so many comparisons may miss if each does by chance in a share of cases: more do less than seldom.

    Comparisons of one cell have runs in common, so that they miss together and the number is a little low.
    """
    likelihood, total = (1.0 - share) ** comparisons, 0.0
    for misses in range(comparisons):
        total += likelihood
        if 1.0 - total <= chance:
            return misses
        likelihood *= (comparisons - misses) / (misses + 1) * share / (1.0 - share)
    return comparisons


def _lean_text(judged: Iterable[Check]) -> str:
    """Kinds of check in which the model lies on one side of the measurement more often than a coin would.

    Noise has two sides: figures that miss by less than it, but all in one direction, are no noise.
    """
    errors = {name: [check.error for check in checks if check.error] for name, checks in kinds(judged).items()}
    leaning = []
    for name, found in errors.items():
        above = sum(error > 0.0 for error in found)
        most = misses_max(len(found), share=0.5, chance=LEAN_CHANCE / (2 * len(errors)))
        count, side = max((above, "above"), (len(found) - above, "below"))
        if count > most:
            leaning.append(f"{name} {side} what was measured in {count:,} of {len(found):,} (chance: {most:,})")
    return f" By side: the model has {'; '.join(leaning)}, so it leans there." if leaning else ""


def _summary_lines(outcome: Outcome) -> list[str]:
    """Of a part whose rows are in a file: a row per kind that has something to tell."""
    rows = [(_kind(name, checks), worst_of(checks)) for name, checks in kinds(outcome.checks).items()]
    rows = [(row, worst) for row, worst in rows if row["allowed"] != EQUAL or row[WRONG]]
    if not rows:
        return []
    lines = [
        "| what is compared | checks | right | wrong | unclear | worst error | allowed |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row, worst in rows:
        counts = " | ".join(f"{row[name]:,}" for name in ("checks", RIGHT, WRONG, UNCLEAR))
        error = doubtful_text(worst) if worst.verdict == UNCLEAR else row["worst"]
        lines.append(f"| {_escape(row['name'])} | {counts} | {_escape(error)} | {row['allowed']} |")
    return [*lines, ""]


def _table_lines(suite: str, table: Table) -> list[str]:
    if _has_file(table):
        file = _table_name(suite, table)
        line = f"{table.title}: [{len(table.rows):,} rows]({file})."
        return [f"{line} {table.note}".rstrip(), ""]
    lines = [f"### {table.title}", "", "| " + " | ".join(table.headings) + " |"]
    lines.append("|" + "|".join("---" if _is_text(table, i) else "--:" for i in range(len(table.headings))) + "|")
    lines += ["| " + " | ".join(_escape(value_text(value)) for value in row) + " |" for row in table.rows]
    return [*lines, "", *([table.note, ""] if table.note else [])]


def _is_text(table: Table, column: int) -> bool:
    return any(isinstance(row[column], str) for row in table.rows)


def _check_lines(name: str, checks: list[Check]) -> list[str]:
    cells = list(dict.fromkeys(label for check in checks for label in check.what))
    unit = next((check.unit for check in checks if check.unit), "")
    has_note = any(check.note for check in checks)
    headings = [*cells, f"expected{f' ({unit})' if unit else ''}", "actual", "error", "allowed", ""]
    headings += ["note"] if has_note else []
    lines = [f"### {name[:1].upper()}{name[1:]}", "", "| " + " | ".join(headings) + " |"]
    lines.append("|" + "---|" * len(cells) + "--:|" * 4 + "---|" * (2 if has_note else 1))
    for check in checks:
        row = [value_text(check.what.get(label)) for label in cells]
        row += [value_text(check.expected), value_text(check.actual), error_text(check), allowed_text(check)]
        row += ["**wrong**" if check.verdict == WRONG else check.verdict] + ([check.note] if has_note else [])
        lines.append("| " + " | ".join(_escape(text) for text in row) + " |")
    return [*lines, ""]


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# ---- the rows behind a page, in a form that can be searched (``tools/table_pages.py``) -----------------


def _is_long(rows: Sequence[object]) -> bool:
    return len(rows) > ROWS_ON_PAGE


def _has_file(table: Table) -> bool:
    return table.is_filed or _is_long(table.rows)


def _table_name(suite: str, table: Table) -> str:
    return f"{suite}-{re.sub(r'[^a-z0-9]+', '-', table.title.lower()).strip('-')}.csv"


def row_files(suite: str, parts: Sequence[Outcome]) -> dict[str, str]:
    """Every file of a suite: all its checks if one of its parts has too many for a page, and each long table."""
    files = {
        _table_name(suite, table): csv_text((table.headings, *(map(_cell, row) for row in table.rows)))
        for part in parts
        for table in part.tables
        if _has_file(table)
    }
    checks = [(part.part, check) for part in parts for check in part.checks]
    if any(_is_long(part.checks) for part in parts):
        files[f"{suite}.csv"] = csv_text(_check_rows(checks))
    return files


def csv_text(rows: Iterable[Iterable[str]]) -> str:
    """Comma separated, one line per row."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _check_rows(checks: Sequence[tuple[str, Check]]) -> list[list[str]]:
    labels = list(dict.fromkeys(label for _, check in checks for label in check.what))
    rows = [["part", "compared", *labels, "expected", "actual", "unit", "error", "allowed", "verdict", "note"]]
    for part, check in checks:
        cells = [_cell(check.what[label]) if label in check.what else "" for label in labels]
        pair = [_cell(check.expected), _cell(check.actual), check.unit]
        verdict = [error_text(check), allowed_text(check), check.verdict, check.note]
        rows.append([part, check.name, *cells, *pair, *verdict])
    return rows


def _cell(value: Value) -> str:
    return value if isinstance(value, str) else value_text(value).replace(",", "")
