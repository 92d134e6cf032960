"""What the tests of catalogs share: time that passes when they say so."""

import pytest
from tests.clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()
