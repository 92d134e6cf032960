"""Answers as HTML, for the report, the live page and notebooks: the same parts in the same order as on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from endive.answers.answer import RIGHT, Answer, Fact, Table
from endive.answers.warnings import Warned

WARNINGS_SHOWN: Final = 3
STYLE: Final = """
.answer-headline{font-weight:650;font-size:1.15rem;margin:.2rem 0 .6rem}
.answer-headline.good{color:#177a3b}.answer-headline.bad{color:#b3261e}.answer-headline.unsure{color:#8a6100}
.answer-scroll{overflow-x:auto;max-width:100%}
.answer-table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.4rem 0}
.answer-table th,.answer-table td{padding:.25rem .8rem .25rem 0;text-align:left;white-space:nowrap;border:0}
.answer-table thead th{font-weight:500;opacity:.75;border-bottom:1px solid currentColor}
.answer-table .n{text-align:right}
.answer-table td.good{background:#177a3b22}.answer-table td.bad{background:#b3261e22}
.answer-table td.unsure{background:#8a610022}
.answer-table .note td{white-space:normal;opacity:.8;padding-left:1rem}
@media (max-width:600px){.answer-table td:first-child,.answer-table th:first-child{white-space:normal}
.answer-table th,.answer-table td{padding:.2rem .4rem .2rem 0;font-size:.8rem;vertical-align:top}}
.answer-facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem .9rem;margin:.5rem 0}
.answer-facts dt{opacity:.75}.answer-facts dd{margin:0}
.answer-warnings{margin:.5rem 0;padding-left:0;list-style:none}
.answer-warnings li{margin:.25rem 0}.answer-warnings b{color:#8a6100;margin-right:.5rem}
.answer-small{opacity:.75;font-size:.88rem;margin:.3rem 0}
"""


def answer_html(answer: Answer, *, with_style: bool = False, with_headline: bool = True) -> str:
    """Return an answer as one element; with its style where the page has none of ours."""
    style = f"<style>{STYLE}</style>" if with_style else ""
    head = f'<p class="answer-headline {answer.tone}">{escape(answer.headline)}</p>' if with_headline else ""
    return f'{style}<div class="answer-body">{head}{"".join(_parts(answer))}</div>'


def answer_page(answer: Answer, title: str) -> str:
    """Return an answer as a page of its own."""
    body = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{body}:root{{color-scheme:light dark}}{STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{answer_html(answer)}</body></html>\n"
    )


def _parts(answer: Answer) -> Iterable[str]:
    why = [Fact("why", answer.why)] if answer.why else []
    if why and answer.is_why_first:
        yield facts_html(why)
    yield from (table_html(table) for table in answer.tables)
    if answer.paste:
        lines = "\n".join(escape(line) for line in answer.paste)
        yield f'<p class="answer-small">Set it:</p><pre>{lines}</pre>'
    facts = [*answer.facts, *([] if answer.is_why_first else why)]
    if facts:
        yield facts_html(facts)
    yield from (f"<p>{escape(note)}</p>" for note in answer.notes)
    if answer.warnings:
        yield warnings_html(answer.warnings)
    if answer.details:
        inner = "".join(table_html(part) for part in answer.details if isinstance(part, Table))
        rest = [part for part in answer.details if isinstance(part, Fact)]
        yield f"<details><summary>Details</summary>{inner}{facts_html(rest) if rest else ''}</details>"
    if answer.provenance:
        yield f'<p class="answer-small">{escape(answer.provenance)}</p>'
    if answer.next:
        yield f'<p class="answer-small">next: <code>{escape(answer.next)}</code></p>'


def table_html(table: Table) -> str:
    """Return a table; it scrolls sideways where there is no room for it."""
    number = ["n" if column.align == RIGHT else "" for column in table.columns]
    head = ""
    if table.has_header:
        names = [f"{column.name} ({column.unit})" if column.unit else column.name for column in table.columns]
        cells = "".join(
            f'<th scope="col" class="{kind}">{escape(name)}</th>' for kind, name in zip(number, names, strict=True)
        )
        head = f"<thead><tr>{cells}</tr></thead>"
    body = ""
    for row in table.rows:
        cells = "".join(
            f'<td class="{f"{kind} {cell.tone}".strip()}">{escape(cell.text)}</td>'
            for kind, cell in zip(number, row.cells, strict=True)
        )
        body += f"<tr>{cells}</tr>"
        if row.note:
            body += f'<tr class="note"><td colspan="{len(table.columns)}">{escape(row.note)}</td></tr>'
    caption = f'<p class="answer-small">{escape(table.title)}</p>' if table.title else ""
    footer = f'<p class="answer-small">{escape(table.footer)}</p>' if table.footer else ""
    return (
        f'{caption}<div class="answer-scroll" tabindex="0" role="region" aria-label="{escape(table.title or "Table")}">'
        f'<table class="answer-table">{head}<tbody>{body}</tbody></table></div>{footer}'
    )


def facts_html(facts: Sequence[Fact]) -> str:
    """Return labelled lines."""
    rows = "".join(f"<dt>{escape(fact.label)}</dt><dd>{escape(fact.text)}</dd>" for fact in facts)
    return f'<dl class="answer-facts">{rows}</dl>'


def warnings_html(warnings: Sequence[Warned]) -> str:
    """Return the weightiest warnings, the others collapsed."""

    def items(some: Sequence[Warned]) -> str:
        rows = "".join(f"<li><b>{each.code}</b>{escape(each.sentence)}</li>" for each in some)
        return f'<ul class="answer-warnings">{rows}</ul>'

    rest = warnings[WARNINGS_SHOWN:]
    more = f"<details><summary>{len(rest)} more warnings</summary>{items(rest)}</details>" if rest else ""
    return items(warnings[:WARNINGS_SHOWN]) + more
