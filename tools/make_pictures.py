"""Draws the pictures of the live page anew: docs/images/explore-*.png, as its guide and the README show them.

    python -m tools.make_pictures            all of them
    python -m tools.make_pictures curve      those named

Starts ``endive explore``, opens it in a headless browser, waits for the answers and takes the pictures. Needs Debian's
chromium, or any Chrome, and the package playwright, which ``make check`` installs. ``PICTURES`` says what they show.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from benchmarks.explore import served

ROOT: Final = Path(__file__).parents[1]
IMAGES: Final = ROOT / "docs" / "images"
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS: Final = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
PATIENCE_MS: Final = 300_000
ANSWERED: Final = "document.getElementById('verdict').dataset.stage === 'done'"
CURVE_DONE: Final = "document.getElementById('along').dataset.stage === 'done'"
UNSTUCK: Final = ".bar { position: static !important }"


@dataclass(frozen=True)
class Picture:
    """One picture: where the page begins, what has to be on screen, and the part of it that is taken."""

    start: str
    changes: dict[str, str]
    ready: Sequence[str]
    part: str  # a selector, or nothing for the window
    width_px: int = 1280
    height_px: int = 860

    @property
    def link(self) -> str:
        """The part of an address that leads to it."""
        return "#" + urlencode(
            [("start", self.start), *(("set", f"{key}={value}") for key, value in self.changes.items())]
        )


WRITERS: Final = "built-in/twenty_writers"
CLIENTS: Final = "source.writers.arrivals.clients"
PICTURES: Final = {
    "answer": Picture("questions/nightly_merge", {}, (ANSWERED,), "", height_px=690),
    "curve": Picture(WRITERS, {CLIENTS: "60"}, (ANSWERED, CURVE_DONE), "#along", height_px=1015),
}


def main(names: Sequence[str]) -> int:
    """Draw the pictures with these names, or all; 2 and one sentence if that is not possible."""
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        return refuse(f"No picture is called {', '.join(unknown)}. Choose from: {', '.join(PICTURES)}.")
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        return refuse(
            f"No browser on this machine (looked for {', '.join(BROWSERS)}). On Debian: apt install chromium."
        )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return refuse("The pictures need the package playwright. Install it with: make check")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        for name in names or PICTURES:
            take(browser, address, PICTURES[name], IMAGES / f"explore-{name}.png")
            print(f"wrote {(IMAGES / f'explore-{name}.png').relative_to(ROOT)}", flush=True)
        browser.close()
    return 0


def refuse(words: str) -> int:
    """Say why there are no pictures."""
    print(words, file=sys.stderr)
    return 2


def take(browser: Any, address: str, picture: Picture, file: Path) -> None:
    """One picture, once everything on it has come."""
    page = browser.new_page(
        viewport={"width": picture.width_px, "height": picture.height_px},
        color_scheme="light",
        reduced_motion="reduce",
    )
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address + picture.link)
    for condition in picture.ready:
        page.wait_for_function(condition)
    page.wait_for_timeout(2_000)  # charts are drawn one after another
    if picture.part:
        page.add_style_tag(content=UNSTUCK)
        cut(page, picture)(file)
    else:
        page.screenshot(path=file)
    page.close()


def cut(page: Any, picture: Picture) -> Callable[[Path], None]:
    """A part of the page, no higher than the picture may be."""
    page.locator(picture.part).scroll_into_view_if_needed()
    box = page.evaluate(
        "(part) => { const box = document.querySelector(part).getBoundingClientRect();"
        " return { x: box.x, y: box.y + scrollY, width: box.width, height: box.height }; }",
        picture.part,
    )
    clip = {**box, "height": min(box["height"], picture.height_px)}
    return lambda file: page.screenshot(path=file, clip=clip, full_page=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
