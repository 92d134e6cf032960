"""What the tests of catalogs share: time that passes when they say so."""

from __future__ import annotations

import pytest
from tests.catalog.clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()
