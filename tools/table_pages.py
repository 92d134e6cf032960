"""On the site a CSV is a page: a table with a box above every column, which keeps the rows that hold what is typed.

The page needs nothing but itself, so that it works where the site is opened as files. In the repository the same link
leads to the CSV.
"""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path
from typing import Final

_LINK: Final = re.compile(r"(\]\([^)\s]+\.csv)\)")
_HEAD: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 14px system-ui, sans-serif }}
body {{ margin: 1.5em auto; max-width: 110em; padding: 0 1.5em }}
table {{ border-collapse: collapse }}
th {{ position: sticky; top: 0; background: Canvas; text-align: left; vertical-align: bottom }}
th, td {{ padding: 2px 8px; border-bottom: 1px solid #8884 }}
input {{ display: block; width: 100%; min-width: 4em; box-sizing: border-box }}
</style></head><body>
<h1>{title}</h1>
<p><a href="{page}">The page these rows belong to</a>, <a href="{file}">the same as a file</a>. Type above a column to
keep the rows that hold the text; all boxes have to match. <output id="count"></output></p>
<table><thead><tr>{headings}</tr></thead><tbody>
"""
_TAIL: Final = """</tbody></table>
<script>
const boxes = [...document.querySelectorAll("input")], rows = [...document.querySelectorAll("tbody tr")];
function filter() {
  const asked = boxes.map((box) => box.value.trim().toLowerCase());
  let shown = 0;
  for (const row of rows) {
    row.hidden = asked.some((text, i) => text && !row.cells[i].textContent.toLowerCase().includes(text));
    shown += !row.hidden;
  }
  document.getElementById("count").textContent = shown + " of " + rows.length + " rows.";
}
boxes.forEach((box) => box.addEventListener("input", filter));
filter();
</script></body></html>
"""


def write_table_pages(folder: Path) -> None:
    """A page beside every CSV below the folder that a page of text links to; its links lead to that page."""
    for text in sorted(folder.rglob("*.md")):
        before = text.read_text(encoding="utf-8")
        after = _LINK.sub(r"\1.html)", before)
        if after == before:
            continue
        text.write_text(after, encoding="utf-8")
        for link in _LINK.findall(before):
            file = text.parent / link.removeprefix("](")
            file.with_name(f"{file.name}.html").write_text(table_page(file, f"{text.stem}.html"), encoding="utf-8")


def table_page(file: Path, page: str) -> str:
    """The rows of a CSV as a page."""
    with file.open(encoding="utf-8", newline="") as lines:
        headings, *rows = csv.reader(lines)
    boxes = "".join(
        f'<th>{html.escape(name)}<input aria-label="keep rows whose {html.escape(name)} holds"></th>'
        for name in headings
    )
    head = _HEAD.format(title=html.escape(file.stem), page=page, file=html.escape(file.name), headings=boxes)
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return head + body + _TAIL
