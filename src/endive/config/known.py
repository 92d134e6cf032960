"""How well a figure is known: the words that profiles of stores and catalogs use.

What a result makes of them is in ``endive.results.knowledge``.
"""

from __future__ import annotations

from typing import Final

MEASURED: Final = "measured"  # somebody measured it; the source says who and how
PUBLISHED: Final = "published"  # somebody states it, without data we could check
ASSUMED: Final = "assumed"  # nobody states it, or only a range so coarse that the figure is our choice
GIVEN: Final = "given"  # by the user, in the configuration; how well it is known is the user's to say
KNOWN: Final = (MEASURED, PUBLISHED, ASSUMED)  # what a profile may say
