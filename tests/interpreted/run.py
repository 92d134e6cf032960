"""Run golden configurations through the interpreted engine, and print their fingerprints as JSON.

python -m tests.interpreted.run [NAME ...]
"""

from __future__ import annotations

import json
import sys

from tests.interpreted import shim

if __name__ == "__main__":
    shim.install()
    from tests.golden.configurations import CONFIGURATIONS

    from endive import simulate

    names = sys.argv[1:] or list(CONFIGURATIONS)
    print(json.dumps({name: simulate(CONFIGURATIONS[name], engine="compiled").fingerprint for name in names}))
