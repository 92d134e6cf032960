"""The way from ``endive verify --live`` to the rigs that drive a real Iceberg.

The rigs live in the top-level ``verification`` of a checkout and are no part of the installed package.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Final

import endive
from endive.errors import EndiveError

RIGS: Final = "verification"


class IcebergMissingError(EndiveError):
    """Real Iceberg cannot be run here: which part, where it was looked for, what to do."""


def checkout() -> Path:
    """The folder of the checkout this package is run from."""
    folder = Path(endive.__file__).parents[2]
    if not (folder / RIGS / "rigs.py").is_file():
        raise IcebergMissingError(
            "--live needs a checkout of Endive: what drives a real Iceberg lies in its folder 'verification' and is "
            "not installed with the package. Clone the repository, set it up with 'make test' and run the command "
            "there; or leave --live out to compare with the recordings."
        )
    return folder


def rigs() -> Any:
    """The module ``verification.rigs`` of the checkout."""
    folder = str(checkout())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(f"{RIGS}.rigs")
