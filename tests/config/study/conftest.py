"""A study file of some text, read or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from endive.config.study import load_study
from endive.errors import ConfigError

BASE = """
[base.simulation]
duration_ms = 60_000
seed = 7
"""


@pytest.fixture
def study(tmp_path: Path):
    """``study(text, "key=value", seeds=3)``: a study file of that text on a small base, read."""

    def load(text: str, *overrides: str, seeds: int | None = None, slo: str | None = None, base: str = BASE):
        path = tmp_path / "my-study.toml"
        path.write_text(text + base)
        return load_study(path, overrides, seeds, slo)

    return load


@pytest.fixture
def problems(study):
    """``problems(text, "key=value")``: what is wrong with a study of that text, in its file or in its grid."""

    def read(*arguments: str, **options: Any) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            study(*arguments, **options).expand()
        return list(caught.value.problems)

    return read
