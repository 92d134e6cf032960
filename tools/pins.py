"""The pinned packages of ``requirements/``: name, version, and the digests of their files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SHIPPED: Final = ("engine", "run", "java")  # what an installation with the usual extras has
ALL: Final = (*SHIPPED, "test", "check", "site", "uv")
_PIN: Final = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>[^ ;\\\n]+)(?P<rest>[^\n\\]*(?:\\\n +--hash=[^\n\\]+)*)", re.MULTILINE
)
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """One package in one version."""

    name: str
    version: str
    layer: str
    sha256: tuple[str, ...] = ()


def read_pins(layers: tuple[str, ...] = ALL, folder: Path = ROOT / "requirements") -> list[Pin]:
    """Every pin of these layers."""
    pins = []
    for layer in layers:
        text = (folder / f"{layer}.txt").read_text(encoding="utf-8")
        for match in _PIN.finditer(text):
            pins.append(Pin(match["name"], match["version"].strip(), layer, tuple(_HASH.findall(match["rest"]))))
    return sorted(pins)
