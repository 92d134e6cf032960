"""Where a session of the page can begin: the file that was named, the studies of ``experiments/``, the recipes.

Each document is brought into the form that controls change: recipes spelt out, runtimes in their long form, defaults of
``[transaction]`` moved into the sources. A request names a start by its id, never by path.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.answers.variation import Base
from endive.config import configuration_file, parse_config, read_toml, recipes
from endive.config.reading.former_names import ConfigNote
from endive.config.reading.overrides import apply_overrides, plain_copy
from endive.config.reading.recipe import expand_recipes
from endive.config.sections.source import SourceKeys
from endive.config.study.study import load_study
from endive.errors import EndiveError
from endive.observation.folder_memory import observed_note
from endive.vocabulary import KINDS_OF

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
BUILT_IN: Final = Path(__file__).parent / "starts"
EXPERIMENTS: Final = "experiments"
QUESTIONS: Final = ("quickstart", "questions", "writers", "mixed")  # of experiments/: shown first


@dataclass(frozen=True)
class Start:
    """One beginning: what it is called, and the configuration."""

    id: str
    title: str
    group: str
    about: str
    base: Base
    file: str | None  # as the command line would name it; none for what has no file of its own

    @property
    def label(self) -> dict[str, str]:
        """Return what a list of starts shows."""
        return {"id": self.id, "title": self.title, "group": self.group, "about": self.about}


@dataclass(frozen=True)
class Starts:
    """Every start by its id."""

    listed: Mapping[str, Start]

    def get(self, id: str) -> Start | None:
        """Return the start with an id."""
        return self.listed.get(id)


def all_starts(file: Path | None) -> dict[str, Start]:
    """Return the list, the named file first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfigNote)  # nobody reads them of twenty files
        starts = [] if file is None else [start_of(file, group="Your file")]
        starts += [
            start_of(path, group="To begin with", prefix="built-in/") for path in sorted(BUILT_IN.glob("*.toml"))
        ]
        starts += [*_of_experiments(), *_of_recipes()]
    return {start.id: start for start in starts}


def start_of(path: Path, *, group: str, prefix: str = "file/") -> Start:
    """Return a configuration file, or the first point of a study file."""
    file = configuration_file(path)
    document = read_toml(file)
    title, about = _headline(file)
    if not document.keys().isdisjoint(("axes", "linked", "point", "base", "study")):
        study = load_study(file)
        values = next(study.combinations())
        document = apply_overrides(study.base, {key: value for key, value in values.items() if "." in key})
        return Start(
            f"{prefix}{file.stem}", study.title or study.name, group, study.question or about, _base(document), None
        )
    name = None if prefix == "built-in/" else str(path)
    about = observed_note(path) or about
    return Start(f"{prefix}{file.stem}", title, group, about, _base(document, str(file)), name)


def is_study_folder(path: Path) -> bool:
    """Return whether a path is a folder other than one that ``endive observe`` wrote."""
    return path.is_dir() and configuration_file(path) == path


def _headline(file: Path) -> tuple[str, str]:
    """Return the first comment of a file: its first sentence, and the rest of the paragraph."""
    lines = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("#:"):  # for editors: where the schema is
            continue
        if not line.startswith("#") or not line.strip("# "):
            break
        lines.append(line.strip("# "))
    first, *rest = _SENTENCE_END.split(" ".join(lines) or file.stem.replace("_", " "), maxsplit=1)
    return first.rstrip("."), "".join(rest)


def _of_experiments() -> Iterator[Start]:
    folders = [Path(EXPERIMENTS), Path(__file__).parents[3] / EXPERIMENTS]
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        return
    for path in sorted(folder.rglob("*.toml"), key=_order):
        try:
            yield start_of(path, group="Experiments", prefix=f"{'/'.join(path.relative_to(folder).parent.parts)}/")
        except EndiveError:
            continue  # a base of other studies, or one that is being written


def _order(path: Path) -> tuple[int, str]:
    places = [place for place, name in enumerate(QUESTIONS) if name in (path.stem, path.parent.name)]
    return (min(places, default=len(QUESTIONS)), str(path))


PARTITIONS = 10  # of the table of a recipe that has a predicate on them
TABLES = 40  # of a recipe whose jobs have a table each


def _of_recipes() -> Iterator[Start]:
    for name, recipe in recipes().items():
        is_delta = not set(recipe.template["operation_types"]).isdisjoint(KINDS_OF["delta"])
        catalog: dict[str, Any] = {} if is_delta else {"type": "service", "latency_ms": 8.0}
        if "one_each" in recipe.template.get("tables", {}):
            catalog["num_tables"] = TABLES
        if recipe.reads_partitions:
            catalog["partitions"] = {"enabled": True, "num_partitions": PARTITIONS}
        document = {
            "simulation": {"duration_ms": "6h", "warmup_ms": "30min", "cooldown_ms": "30min", "seed": 1},
            "catalog": catalog,
            "source": [{"name": name, "recipe": name}],
            **({"table": {"format": "delta"}} if is_delta else {}),
            **({"delta": {"client": recipe.client}} if recipe.client else {}),
        }
        yield Start(f"recipe/{name}", recipe.title, "Recipes", recipe.commits, _base(document), None)


# --- the form that controls change --------------------------------------------------------------------


def _base(document: Mapping[str, Any], source: str = "<start>") -> Base:
    config = parse_config(document, source=source)
    plain: dict[str, Any] = plain_copy(document)
    expand_recipes(plain)
    resolved = {entry["name"]: entry for entry in config.to_dict()["source"]}
    sources = plain.get("source") or []
    _share(plain, sources)
    for entry in sources:
        for key in ("arrivals", "runtime"):
            entry[key] = resolved[entry["name"]][key]
        if entry["arrivals"].get("kind") == "poisson":
            entry["arrivals"] = {"kind": "poisson", "per_s": 1000.0 / entry["arrivals"]["mean_ms"]}
    if not sources:
        shared = plain.get("transaction", {})
        if "retry_backoff" not in shared:
            del resolved["default"]["retry_backoff"]  # what the protocol chooses
        plain["source"] = [resolved["default"]]
        own = (*SourceKeys.model_fields, "inter_arrival", "ntable")
        plain["transaction"] = {key: value for key, value in shared.items() if key not in own}
    return Base(plain, source, parse_config(plain, source=source))


def _share(document: dict[str, Any], sources: list[dict[str, Any]]) -> None:
    """Defaults of [transaction] that sources take over, written into each."""
    shared = document.get("transaction", {})
    for key in [key for key in shared if sources and key in SourceKeys.model_fields]:
        value = shared.pop(key)
        for entry in sources:
            entry.setdefault(key, plain_copy(value))
