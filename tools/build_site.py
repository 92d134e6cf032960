"""Builds the documentation site from the same files that the repository shows: ``make site``.

The files are gathered with their paths, so that a link that works in the repository works on the site. Any warning is
an error: a link or an anchor that leads nowhere, a page that the navigation lacks. Nothing on the site is loaded from
elsewhere.

    python -m tools.build_site [FOLDER]        default: out/site
"""

from __future__ import annotations

import logging
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException
from tools.table_pages import write_table_pages

ROOT: Final = Path(__file__).resolve().parents[1]
_PAGES: Final = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "SUPPORT.md",
    "CODE_OF_CONDUCT.md",
)
_LEFT_OUT: Final = shutil.ignore_patterns("template.md", "index.json")
_LOADED: Final = re.compile(
    r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//(?P<host>[^/"' >]+)"""
)


def github_slug(text: str, separator: str) -> str:
    """The anchor GitHub gives a heading, so that one link serves both."""
    plain = re.sub(r"<[^>]*>", "", text).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", separator)


def gather(folder: Path) -> None:
    """Copy what the site is made of."""
    for name in _PAGES:
        shutil.copyfile(ROOT / name, folder / name)
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=_LEFT_OUT)
    shutil.copytree(ROOT / "experiments", folder / "experiments")
    write_table_pages(folder)


def loaded_from_elsewhere(site: Path) -> list[str]:
    """Pages that would ask another host for a part of themselves."""
    return [
        f"{page.relative_to(site)}: {loaded['host']}"
        for page in sorted(site.rglob("*.html"))
        for loaded in _LOADED.finditer(page.read_text(encoding="utf-8"))
        if 'rel="canonical"' not in loaded[0]
    ]


def build_site(site: Path) -> None:
    """Build into a folder; MkDocsException if anything is amiss."""
    with tempfile.TemporaryDirectory(prefix="endive-site-") as name:
        gather(Path(name))
        config = load_config(str(ROOT / "mkdocs.yml"), docs_dir=name, site_dir=str(site), strict=True)
        config.plugins.on_startup(command="build", dirty=False)
        try:
            build(config)
        finally:
            config.plugins.on_shutdown()
    foreign = loaded_from_elsewhere(site)
    if foreign:
        raise MkDocsException("The site loads from elsewhere: " + "; ".join(foreign))


def main() -> int:
    """Build, and say where."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out" / "site").resolve()
    try:
        build_site(site)
    except MkDocsException as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{site / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
