"""Fit the measured profiles to the closed-loop curves, or show how they meet them.

The curves, the clients and the search are those of ``verification.suites`` (``measured_curves``,
``closed_loop``, ``fitting``), so that the suite ``stores`` and this file cannot differ.

    python verification/fit_profiles.py                    every point beside its measurement; 1 if one is off
    python verification/fit_profiles.py s3 s3x             of these stores
    python verification/fit_profiles.py --fit azurex       search for better figures, print them and what they give
"""

from __future__ import annotations

import argparse
import sys

from endive.storage import Profile, load_profile
from verification.suites.closed_loop import LoopResult, run_closed_loop
from verification.suites.fitting import fit, with_figures
from verification.suites.measured_curves import GOALS, MeasuredPoint, curves

EVALUATIONS_MAX = 300  # of one walk of the search; there are two, the second with smaller steps


def main(arguments: list[str]) -> int:
    """Show or fit; 1 if a point that has a goal misses it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = list(dict.fromkeys(store for store, _ in curves()))
    parser.add_argument("stores", nargs="*", metavar="store", help=f"which ones: {', '.join(known)}")
    parser.add_argument("--fit", action="store_true", help="search for better figures instead of showing the shipped")
    given = parser.parse_args(arguments)
    unknown = [store for store in given.stores if store not in known]
    if unknown:
        parser.error(f"nothing was measured on {', '.join(unknown)}. Choose from: {', '.join(known)}.")
    misses = 0
    for (store, op), points in curves().items():
        if given.stores and store not in given.stores:
            continue
        profile = load_profile(store)
        if given.fit:
            figures, _ = fit(points, evaluations_max=EVALUATIONS_MAX)
            figures, least = fit(points, start=figures, evaluations_max=EVALUATIONS_MAX, step=0.05)
            print(f"{store} {op}: misfit {least:.3f}")
            for name, value in figures.items():
                print(f"    {name} = {value:.4g}")
            profile = with_figures(profile, op, figures)
        misses += show(profile, points)
    return 1 if misses else 0


def show(profile: Profile, points: tuple[MeasuredPoint, ...]) -> int:
    """Print the points of a curve; how many of them miss their goal."""
    print("store   op      threads   successes/s (measured)   failures % (measured)   median ms (measured)")
    misses = 0
    for point in points:
        found = run_closed_loop(profile, point.op, point.clients)
        is_met = meets(point, found)
        misses += not is_met
        print(
            f"{point.store:7} {point.op:7} {point.clients:7}   "
            f"{found.success_per_s:11.2f} ({point.success_per_s:8.2f})   "
            f"{found.failure_pct:10.1f} ({point.failure_pct:8.1f})   "
            f"{found.success_median_ms:9.1f} ({point.success_median_ms:8.1f}){'' if is_met else '   off'}"
        )
    return misses


def meets(point: MeasuredPoint, found: LoopResult) -> bool:
    """Whether a point is as near as it should be; Google's have no goal."""
    goal = GOALS.get(point.store)
    if goal is None:
        return True
    rate_error = abs(found.success_per_s / point.success_per_s - 1.0)
    return rate_error <= goal.rate and abs(found.failure_pct - point.failure_pct) <= goal.failure_points


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
