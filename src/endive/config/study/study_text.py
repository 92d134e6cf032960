"""A study as TOML text that reads back as an equal study: what a sweep keeps beside its results.

Ranges are spelt out, the base is inlined, seeds are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from endive.config.study.study import Study
from endive.config.toml_text import key_text, value_text


def study_text(study: Study) -> str:
    head = {name: getattr(study, name) for name in ("name", "title", "question", "subject", "look_for", "seeds")}
    blocks = [_block("[study]", {name: value for name, value in head.items() if value is not None})]
    if report := {name: value for name, value in asdict(study.report).items() if value}:
        blocks.append(_block("[study.report]", report))
    alone = {group[0].key: list(group[0].values) for group in study.groups if len(group) == 1}
    if alone:
        blocks.append(_block("[axes]", alone))
    for group in study.groups:
        if len(group) > 1:
            blocks.append(_block("[[linked]]", {axis.key: list(axis.values) for axis in group}))
    blocks += [_block("[[point]]", point) for point in study.points]
    if study.derived:
        blocks.append(_block("[derived]", {key: expression.text for key, expression in study.derived}))
    for drop in study.drops:
        because = {"because": drop.because} if drop.because else {}
        blocks.append(_block("[[drop]]", {"when": drop.when.text, **because}))
    for name, section in study.base.items():
        heading = f"base.{key_text(name)}"
        if isinstance(section, Mapping):
            blocks.append(_block(f"[{heading}]", section))
        else:
            blocks += [_block(f"[[{heading}]]", table) for table in section]
    return "\n\n".join(blocks) + "\n"


def _block(heading: str, table: Mapping[str, Any]) -> str:
    lines = [f"{key_text(key)} = {value_text(value)}" for key, value in table.items()]
    return "\n".join([heading, *lines])
