"""Vega, Vega-Lite and Vega-Embed as one script, which every page with charts carries.

Bundling it takes two seconds, and it changes only with the release of vl-convert, so it is kept on disk. It is run by
browsers, so it is kept where compiled code is, and only if that folder is the user's alone (``endive.code_cache``).
"""

from __future__ import annotations

from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Final

from endive.code_cache import cache_roots, is_ours_alone
from endive.errors import OutputError
from endive.results.writer import write_atomically

_ENTRY: Final = "window.vegaEmbed = vegaEmbed;"
_FILE: Final = "vega.js"
_DIGEST_BYTES: Final = 12
_LICENCE: Final = Path(__file__).parents[1] / "assets" / "vega-licence.txt"


def bundle() -> str:
    """Return the script, with its licence, as it may stand inside a script element."""
    return f"/*!\n{_LICENCE.read_text(encoding='utf-8')}*/\n{_kept_script()}"


def _kept_script() -> str:
    """Return the script from disk; made, and kept for the next time, if it is not there or not whole."""
    folder = _folder()
    if folder is None:
        return _make_script()
    file = folder / _FILE
    try:
        digest, _, script = file.read_text(encoding="utf-8").partition("\n")
        if digest == _digest(script):
            return script
    except (OSError, ValueError):
        pass
    script = _make_script()
    try:
        write_atomically(file, f"{_digest(script)}\n{script}".encode())
    except OutputError:
        pass  # then it is made again
    return script


def _make_script() -> str:
    import vl_convert

    return str(vl_convert.javascript_bundle(_ENTRY)).replace("</script", "<\\/script")


def _folder() -> Path | None:
    """Return a folder of this release of vl-convert, named like those of compiled code, with which it is tidied up."""
    name = _digest(f"{version('vl-convert-python')} {_ENTRY}")
    return next((root / name for root in cache_roots() if is_ours_alone(root / name)), None)


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()
