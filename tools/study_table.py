"""One figure of an analysed study as a small Markdown table, such as the pages in docs/studies hold.

It computes nothing: every number stands in DIR/analysis.

    python tools/study_table.py out/exp_2_1 exp_2_1_merge success_rate commit_latency_p50_ms
    python tools/study_table.py out/mixed overwrites success_rate --name overwrites
    python tools/study_table.py out/catalogs catalogs committed_per_s --rows load_per_s,variant --where variant=plain
    python tools/study_table.py out/growth merging success_rate --name merge_append --label load_per_s=offered/s
    python tools/study_table.py out/exp_4_1 exp_4_1_merge success_rate --rate transaction.inter_arrival.scale
    python tools/study_table.py out/mixed overwrites success_rate --csv docs/studies/x.csv --keep 'load_per_s=1|5'

With ``--csv`` every row goes into that file and the page keeps those that ``--keep`` names, with intervals only where
they are wide; with ``--link`` none, where a sentence says it. The site shows the file as a table with filters
(``tools/table_pages.py``).
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from endive.cli.tables import deviation
from endive.report.words import STORE_NAMES

FIGURES: Final = "figures"  # in the place of an axis along the top: the figures themselves
WIDE_POINTS: Final = 5.0  # an interval of a share that reaches so far is always shown
WIDE_SHARE: Final = 0.1  # and of anything else, as a part of its mean
_NOTHING: Final = {"success_rate": "none ended"}  # where there is no figure to show
Row = dict[str, str]
Cell = tuple[tuple[str, ...], str]  # values of the rows' axes, value of the column's


def main() -> None:
    """Print one table per figure, or one with the figures along the top."""
    given = _arguments()
    analysis = Path(given.folder) / "analysis"
    report = _report(analysis, given.study)
    rows = (given.rows or report.get("x", "")).split(",")
    columns = given.columns or report.get("series", FIGURES)
    labels = dict(STORE_NAMES) | dict(label.split("=", 1) for label in given.label)
    if given.rate:
        labels.setdefault(given.rate, "offered/s")
    if given.title:
        print(f"{given.title}\n")
    points = _points(analysis, given.study, given.where)
    _refuse_unknown(points, rows, columns)
    sides = {
        number: tuple(_rate(at[axis]) if axis == given.rate else at[axis] for axis in rows)
        for number, at in points.items()
    }
    if columns == FIGURES:
        places = {number: (side, "") for number, side in sides.items()}
        columns = [(figure, _cells(analysis, given, figure, places)) for figure in given.figures]
        cells = {(row, figure): shown for figure, column in columns for (row, _), shown in column}
        print("\n".join(present(rows, cells, labels, given)))
        return
    places = {number: (side, points[number][columns]) for number, side in sides.items()}
    for figure in given.figures:
        if len(given.figures) > 1 and not given.title:
            print(f"{figure}, {given.name}\n")
        print("\n".join(present(rows, dict(_cells(analysis, given, figure, places)), labels, given)))
        if figure != given.figures[-1]:
            print()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder", help="a folder that 'endive analyze' has analysed")
    parser.add_argument("study", help="name of a study in it")
    parser.add_argument("figures", nargs="+", help="figures of the analysis, such as success_rate")
    parser.add_argument(
        "--rows", help="axis down the side, or several with commas; default: what the study is drawn against"
    )
    parser.add_argument("--columns", help="axis along the top, or 'figures'; default: the study's series")
    parser.add_argument("--name", default="all", help="an operation type or a source, instead of all txns")
    parser.add_argument(
        "--label", action="append", default=[], help="NAME=TEXT: another word for an axis, value or figure"
    )
    parser.add_argument(
        "--where", action="append", default=[], help="KEY=VALUE, or KEY=A|B: only points with such a value"
    )
    parser.add_argument("--rate", default="", help="an axis of gaps between txns in ms, to be shown as txns per second")
    parser.add_argument("--title", default="", help="a line above the table")
    parser.add_argument("--csv", type=Path, help="write every row to this file, and link to it below the table")
    parser.add_argument(
        "--keep", action="append", default=[], help="with --csv: KEY=VALUE, or KEY=A|B: rows that are printed too"
    )
    parser.add_argument("--link", action="store_true", help="with --csv: print no rows, only the link")
    given = parser.parse_args()
    if given.csv and len(given.figures) > 1 and given.columns != FIGURES:
        parser.error("--csv holds one table: name one figure, or --columns figures.")
    return given


def _report(analysis: Path, study: str) -> dict[str, str]:
    """What the study is drawn against."""
    try:
        studies = json.loads((analysis / "index.json").read_text())["studies"]
    except FileNotFoundError:
        raise SystemExit(f"{analysis} holds no analysis. Run: endive analyze {analysis.parent}") from None
    if study not in studies:
        raise SystemExit(f"{analysis} has no study '{study}'. Choose one of: {', '.join(studies)}.")
    return dict(studies[study].get("report", {}))


def _refuse_unknown(points: dict[str, Row], rows: Sequence[str], columns: str) -> None:
    if not points:
        raise SystemExit("No point meets the conditions of --where.")
    known = next(iter(points.values()))
    for axis in (*rows, columns):
        if axis not in known and axis != FIGURES:
            raise SystemExit(f"'{axis}' is no axis of the study. Name one with --rows and --columns.")


def _points(analysis: Path, study: str, where: Sequence[str]) -> dict[str, Row]:
    """Points of the study that meet the conditions, by number, in the order of the grid."""
    wanted = {key: values.split("|") for key, _, values in (condition.partition("=") for condition in where)}
    return {
        row["point"]: row
        for row in _read(analysis / "configurations.csv")
        if row["study"] == study
        and row["scope"] == "all"
        and all(row.get(key) in values for key, values in wanted.items())
    }


def _cells(
    analysis: Path, given: argparse.Namespace, figure: str, places: dict[str, Cell]
) -> Iterable[tuple[Cell, str]]:
    seen: dict[Cell, tuple[str, str]] = {}
    for row in _read(analysis / "figures.csv"):
        is_meant = row["study"] == given.study and row["figure"] == figure and row["name"] == given.name
        if not is_meant or row["point"] not in places:
            continue
        place = places[row["point"]]
        if place in seen and seen[place][0] == row["point"]:
            continue  # a source and the one kind of operation it makes may have the same name
        if place in seen:
            raise SystemExit(
                f"Points {seen[place][0]} and {row['point']} fall into one cell: tell them apart by --where."
            )
        seen[place] = row["point"], _show(figure, row)
    absent = "", _NOTHING.get(figure, "-")
    return [(place, seen.get(place, absent)[1]) for place in dict.fromkeys(places.values())]


def _show(figure: str, row: Row) -> str:
    """Mean and how far its interval reaches to either side; three digits that matter."""
    if row["mean"] == "":
        return _NOTHING.get(figure, "-")
    mean = float(row["mean"])
    ends = (float(row["ci95_low"]), float(row["ci95_high"])) if row["ci95_low"] else (mean, mean)
    reach = max(ends[1] - mean, mean - ends[0])
    if figure == "success_rate":
        is_wide, known = reach >= 5e-4, f"{100 * mean:.1f} %"
        return f"{known} {deviation(ends, mean, lambda part: f'{100 * (part or 0.0):.1f}', ' ')}" if is_wide else known
    decimals = _decimals(mean)
    known = f"{mean:,.{decimals}f}"
    if reach <= 0.01 * abs(mean):
        return known
    return f"{known} {deviation(ends, mean, lambda part: f'{part or 0.0:,.{decimals}f}', ' ')}"


def _decimals(value: float) -> int:
    """How many decimals show three digits that matter; the interval gets as many as its mean."""
    return 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3


def _rate(gap_ms: str) -> str:
    return f"{1000 / float(gap_ms):g}"


def present(rows: Sequence[str], cells: dict[Cell, str], labels: Row, given: argparse.Namespace) -> Iterable[str]:
    """The table; or with a file for all of it, the rows to keep and a link."""
    if not given.csv:
        return _table(rows, cells, labels)
    heads = list(dict.fromkeys(column for _, column in cells))
    sides = list(dict.fromkeys(row for row, _ in cells))
    given.csv.parent.mkdir(parents=True, exist_ok=True)
    with given.csv.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(labels.get(word, word) for word in (*rows, *heads))
        writer.writerows(
            [*(_word(value, labels) for value in side), *(cells.get((side, head), "") for head in heads)]
            for side in sides
        )
    wanted = {key: values.split("|") for key, _, values in (condition.partition("=") for condition in given.keep)}
    kept = {
        (side, head): _shorten(text)
        for (side, head), text in cells.items()
        if all(value in wanted.get(axis, [value]) for axis, value in zip(rows, side, strict=True))
    }
    link = f"All {len(sides)} rows, with their intervals: [{given.csv.name}]({given.csv.name})."
    return [link] if given.link else [*_table(rows, kept, labels), "", link]


def _shorten(text: str) -> str:
    """The mean alone where its interval is narrow: below 5 points of a share, or a tenth of anything else."""
    mean, *rest = text.split()
    reaches = [abs(float(word.replace(",", ""))) for word in rest if word[-1].isdigit()]
    if not reaches:
        return text
    is_share = "%" in rest
    limit = WIDE_POINTS if is_share else WIDE_SHARE * float(mean.replace(",", ""))
    return text if max(reaches) >= limit else f"{mean} %" if is_share else mean


def _table(rows: Sequence[str], cells: dict[Cell, str], labels: Row) -> Iterable[str]:
    """A value of the side that is the one above's is left out, the last of the side excepted."""
    heads = list(dict.fromkeys(column for _, column in cells))
    sides = list(dict.fromkeys(row for row, _ in cells))
    yield "| " + " | ".join(labels.get(word, word) for word in (*rows, *heads)) + " |"
    aligned = ["--:" if all(_is_number(side[place]) for side in sides) else "---" for place in range(len(rows))]
    yield "|" + "|".join((*aligned, *("--:" for _ in heads))) + "|"
    above: tuple[str, ...] = ()
    for side in sides:
        values = [
            "" if place < len(rows) - 1 and above[: place + 1] == side[: place + 1] else _word(value, labels)
            for place, value in enumerate(side)
        ]
        yield "| " + " | ".join([*values, *(cells.get((side, head), "") for head in heads)]) + " |"
        above = side


def _word(value: str, labels: Row) -> str:
    """The label of a value; thousands apart if it is a whole number."""
    return labels[value] if value in labels else f"{int(value):,}" if value.isdecimal() else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read(path: Path) -> Iterable[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


if __name__ == "__main__":
    main()
