"""What an observed folder remembers of its replays: profiles, assumptions, and whether the model explained the table.

``endive replay`` keeps what it was given: profiles are copied into the folder, its configuration is written anew with
them, and the verdict goes into ``replay.json``. Whoever asks a question of the folder later gets the same
configuration, and the verdict first. ``observed.toml`` is the configuration as ``endive observe`` wrote it.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from endive.config import apply_overrides, parse_config, parse_overrides, read_toml
from endive.config.capabilities import is_profile_path
from endive.config.printable import printable
from endive.config.toml_text import toml_text
from endive.errors import ConfigError, EndiveError, OutputError
from endive.intake import read_json, refused_as
from endive.observation.folder import CONFIG_FILE, FIRST_FILE, MEMORY_FILE, STORE_FILE, is_observed, read_findings
from endive.results import MODEL_VERSION
from endive.results.writer import output_errors, write_atomically

FORMAT: Final = 1
BYTES_MAX: Final = 2**20
SHOWN_MAX: Final = 4  # figures named in a note
OF_THE_TABLE: Final = ("partitions", "num_tables")  # keys of [catalog] that no measured profile knows
UNSEEN: Final = "Failed commits leave nothing in the table, so it was not held against them."
_KEYS: Final[Mapping[str, type]] = {
    "table": str,
    "explains": bool,
    "agree": int,
    "unclear": int,
    "total": int,
    "rest": list,
    "assumed": list,
    "digest": str,
    "model_version": int,
}


def given_document(
    folder: Path, *, profile: str | None, catalog_profile: Path | None, assumed: Sequence[str]
) -> dict[str, Any]:
    """The folder's configuration with what is given now; the place of a profile is written out."""
    document = read_toml(folder / CONFIG_FILE)
    storage = document.setdefault("storage", {})
    if profile is not None:
        storage["provider"] = str(Path(profile).absolute())
    elif is_profile_path(str(storage.get("provider", ""))):
        storage["provider"] = str((folder / storage["provider"]).absolute())
    if catalog_profile is not None:
        document["catalog"] = with_catalog(document, catalog_profile)
    return apply_overrides(document, parse_overrides(list(assumed)))


def with_catalog(document: Mapping[str, Any], profile: Path) -> dict[str, Any]:
    """``[catalog]`` as a profile has it; how the table is partitioned is not the catalog's, and stays."""
    measured = read_toml(profile).get("catalog")
    if not isinstance(measured, dict):
        raise ConfigError(f"'{profile}' has no [catalog]. Give the file that endive measure catalog has written.")
    kept = {key: value for key, value in document.get("catalog", {}).items() if key in OF_THE_TABLE}
    return {**measured, **kept}


def remember(folder: Path, document: Mapping[str, Any], verdict: Mapping[str, Any], given: Sequence[str]) -> str:
    """Keep a replay: what it was given goes into the configuration, and its verdict beside it.

    A replay begins every txn when it began; whoever asks the configuration has the sources' own clocks. So its rates
    are held against those seen once more, and what is off is the answer; nothing if all of them hold.
    """
    from endive.observation.fitting.rate_check import settle_again

    findings = read_findings(folder)
    rates = findings["rates"] if isinstance(findings.get("rates"), dict) else {}
    checks = settle_again(document, rates, parse_config(document).simulation.duration_ms)
    off = [each.counts for each in checks if not each.holds]
    earlier = (read_memory(folder) or {}).get("assumed", [])
    assumed = [*dict.fromkeys([*earlier, *given])]
    with output_errors(folder):
        if not (folder / FIRST_FILE).exists():
            shutil.copyfile(folder / CONFIG_FILE, folder / FIRST_FILE)
        kept = apply_overrides(document, {})
        provider = str(kept["storage"]["provider"])
        if is_profile_path(provider):
            if Path(provider) != (folder / STORE_FILE).absolute():
                write_atomically(folder / STORE_FILE, Path(provider).read_bytes())
            kept["storage"]["provider"] = f"./{STORE_FILE}"
        head = _head(findings, verdict, assumed)
        text = "".join(f"# {line}\n" for line in head) + "\n" + toml_text(kept)
        parse_config(kept, source=str(folder / CONFIG_FILE))
        write_atomically(folder / CONFIG_FILE, text.encode())
        record = {
            "format": FORMAT,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "model_version": MODEL_VERSION,
            "digest": _digest(folder),
            "assumed": assumed,
            "rates_off": off,
            **verdict,
        }
        write_atomically(folder / MEMORY_FILE, (json.dumps(record, indent=2) + "\n").encode())
    return _say_rates_off(str(findings["table"]), off)


def forget(folder: Path) -> None:
    """Back to what ``endive observe`` wrote."""
    with output_errors(folder):
        if (folder / FIRST_FILE).is_file():
            shutil.copyfile(folder / FIRST_FILE, folder / CONFIG_FILE)
        for name in (FIRST_FILE, MEMORY_FILE, STORE_FILE):
            (folder / name).unlink(missing_ok=True)


def _head(findings: Mapping[str, Any], verdict: Mapping[str, Any], assumed: Sequence[str]) -> list[str]:
    seen = f"{findings['table']}, as seen from {findings.get('first')} to {findings.get('last')}"
    return [
        f"{seen}: {findings['commits']:,} commits.",
        sentence(verdict),
        "Written by endive observe and endive replay. Given to the replay, and used by whoever asks this folder:",
        *(f"  {line}" for line in assumed or ["nothing"]),
        "Assumed, not seen:",
        *(f"  {line}" for line in findings.get("assumed", []) if isinstance(line, str)),
    ]


def _digest(folder: Path) -> str:
    return hashlib.sha256((folder / CONFIG_FILE).read_bytes()).hexdigest()


# ---- repeating it --------------------------------------------------------------------------------------


def read_memory(folder: Path) -> dict[str, Any] | None:
    """What is remembered; None if the table was never replayed. OutputError for a file that makes no sense."""
    path = folder / MEMORY_FILE
    if not path.is_file():
        return None
    with refused_as(OutputError):
        document = read_json(path, bytes_max=BYTES_MAX, noun="a replay's verdict")
    for key, kind in _KEYS.items():
        if not isinstance(document, dict) or not isinstance(document.get(key), kind):
            raise OutputError(f"'{path}' is damaged: {key} is missing or makes no sense. Run endive replay again.")
    return dict(document)


def sentence(verdict: Mapping[str, Any]) -> str:
    """``On your table this model explains 7 of 19 figures; the rest: ...``"""
    rest = [str(line) for line in verdict["rest"]]
    short = f"; of {verdict['unclear']} too few commits were seen to tell" if verdict["unclear"] else ""
    if verdict["explains"]:
        text = (
            f"On {verdict['table']} this model explains what was seen: {verdict['agree']} of {verdict['total']} figures"
        )
        return f"{text} agree{short}."
    more = f" and {len(rest) - SHOWN_MAX} more" if len(rest) > SHOWN_MAX else ""
    text = f"On {verdict['table']} this model explains {verdict['agree']} of {verdict['total']} figures{short}"
    return f"{text}; the rest: {'; '.join(rest[:SHOWN_MAX])}{more}. What follows may not hold for your table."


def _rates_off(findings: Mapping[str, Any]) -> str:
    """That sources do not commit as often as they were seen to, as ``endive observe`` found."""
    rates = findings.get("rates")
    told = [each for each in rates.values() if isinstance(each, dict)] if isinstance(rates, dict) else []
    return _say_rates_off(findings["table"], [each.get("counts", "") for each in told if each.get("holds") is False])


def _say_rates_off(table: str, counts: Sequence[Any]) -> str:
    if not counts:
        return ""
    more = f"; and {len(counts) - SHOWN_MAX} more" if len(counts) > SHOWN_MAX else ""
    off = "; ".join(printable(str(each)) for each in counts[:SHOWN_MAX])
    return f"This model does not commit as {table} was seen to: {off}{more}. "


def observed_note(path: Path) -> str | None:
    """What must be said before an answer about an observed folder; None of any other configuration."""
    folder = path if path.is_dir() else path.parent
    if (path != folder and path.name != CONFIG_FILE) or not is_observed(folder):
        return None
    try:
        findings, memory = read_findings(folder), read_memory(folder)
    except EndiveError as error:
        return f"{error}"
    unseen = "" if findings.get("has_outcomes", True) else f" {UNSEEN}"
    if memory is None:
        asked = f"Nobody has held this model against {findings['table']} yet: endive replay {folder} does it."
        return f"{_rates_off(findings)}{asked}{unseen}"
    changed = "" if memory["digest"] == _digest(folder) else f" {CONFIG_FILE} was changed since: replay it again."
    if memory["model_version"] != MODEL_VERSION:
        changed += f" The replay was made with model version {memory['model_version']}: replay it again."
    given = f" Used as given to the replay: {', '.join(memory['assumed'])}." if memory["assumed"] else ""
    off = memory.get("rates_off")
    rates_off = _say_rates_off(memory["table"], off if isinstance(off, list) else [])
    return f"{rates_off}{sentence(memory)}{given}{changed}{unseen}"
