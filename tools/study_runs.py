"""Studies that pages are made from: simulated once for each model, then taken from a cache.

A cached study is known by its commands, its files, the model version and the results of the engine on the golden
configurations. The cache lies outside the repository: ``$ENDIVE_DOCS_CACHE``, or ``endive-docs`` in the cache folder of
the user.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
import tomllib
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Final

from tools.page_commands import ROOT, in_shell

from endive.results.provenance import MODEL_VERSION

_TOML: Final = re.compile(r"experiments/\S+\.toml")
_OUT: Final = re.compile(r"(?:--out |analyze |report )out/([\w.-]+)")
_WORDS: Final = ("title", "question", "look_for")
_COMPLETE: Final = "complete.json"


class StudyError(Exception):
    """A command of a study that failed, with what it printed."""


def cache_folder() -> Path:
    """Where finished studies are kept."""
    given = os.environ.get("ENDIVE_DOCS_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else home / "endive-docs"


def name_of(commands: Sequence[str]) -> str:
    """Names the result of these commands under this version of the model; words in their files do not count."""
    digest = hashlib.blake2b("\n".join(commands).encode(), digest_size=8)
    for family in sorted({Path(name).parent for command in commands for name in _TOML.findall(command)}):
        for path in sorted((ROOT / family).glob("*.toml")):
            digest.update(path.name.encode() + _values_of(path).encode())
    return f"{folder_of(commands[0])}-model{MODEL_VERSION}-{digest.hexdigest()}"


def _values_of(path: Path) -> str:
    """What a file says without its comments, its title and its question."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    document["study"] = {key: value for key, value in document.get("study", {}).items() if key not in _WORDS}
    return json.dumps(document, sort_keys=True, default=str)


def provide(commands: Sequence[str], out: Path) -> bool:
    """Put the folder that the commands fill into ``out``; whether it had to be simulated."""
    kept = cache_folder() / name_of(commands)
    is_new = not _is_valid(kept)
    if is_new:
        _simulate(commands, kept)
    name = folder_of(commands[0])
    (out / name).symlink_to(kept / "out" / name)
    return is_new


def folder_of(command: str) -> str:
    """The folder below out/ that a command works on."""
    folder = _OUT.search(command)
    if not folder:
        raise StudyError(f"'{command}' names no folder. Give it as out/NAME.")
    return folder[1]


def _is_valid(kept: Path) -> bool:
    """Whether a study is complete, and the engine still gives the results it gave then.

    That is told by the fingerprints of the golden configurations: an edit that moves nothing keeps the cache.
    """
    try:
        then = json.loads((kept / _COMPLETE).read_text(encoding="utf-8"))["fingerprints"]
    except FileNotFoundError:
        return False
    now = _golden_fingerprints()
    return all(now.get(name, fingerprint) == fingerprint for name, fingerprint in then.items())


def _golden_fingerprints() -> dict[str, str]:
    golden = json.loads((ROOT / "tests/golden/fingerprints.json").read_text(encoding="utf-8"))
    return {name: each["fingerprint"] for name, each in golden.items()}


def _simulate(commands: Sequence[str], kept: Path) -> None:
    """Run the commands in a folder of the cache. A sweep that was interrupted goes on where it stopped."""
    if (kept / _COMPLETE).exists():
        shutil.rmtree(kept)  # of an engine with other results
    kept.mkdir(parents=True, exist_ok=True)
    for linked in ("experiments", "tools"):
        if not (kept / linked).is_symlink():
            (kept / linked).symlink_to(ROOT / linked)
    (kept / "out").mkdir(exist_ok=True)
    begun_s = time.monotonic()
    with chdir(kept):
        for command in commands:
            print(f"    {command}", flush=True)
            answer = in_shell(command)
            if answer.exit_code:
                raise StudyError(f"'{command}' ended with {answer.exit_code}:\n" + "\n".join(answer.lines))
    document = {"fingerprints": _golden_fingerprints(), "seconds": round(time.monotonic() - begun_s)}
    (kept / _COMPLETE).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
