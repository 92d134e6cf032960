"""Both engines: a test that asks for ``engine`` runs on each."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["reference", "compiled"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)
