"""The way from a suite to the rigs that drive a real Iceberg, for ``endive verify --live``."""

from __future__ import annotations

import importlib
from typing import Any

from endive.errors import EndiveError


class IcebergMissingError(EndiveError):
    """Real Iceberg cannot be run here: which part, where it was looked for, what to do."""


def rigs() -> Any:
    """``verification.rigs``, which imports what the suites define and is imported when it is needed."""
    return importlib.import_module("verification.rigs")
