"""What every test shares: Hypothesis runs that can be repeated.

This file defines no fixture of the domain; those live beside the tests that use them.
"""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples on every run and every machine; a failure prints what reproduces it.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
# New examples on every run, to go looking for trouble: HYPOTHESIS_PROFILE=explore make test
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
