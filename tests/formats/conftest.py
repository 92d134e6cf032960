"""Lets the tests of this folder import what they share by its path from the root: ``tests.<folder>.<file>``."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
