"""What requests cost, where the profile of the store says so.

It never guesses: a profile without ``[prices]`` has no price, and the requests of a catalog that is a server of its own
are not on the store's bill.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from endive.answers.price import usd_by_request
from endive.errors import EndiveError, OutputError
from endive.intake import parse_json, refused_as
from endive.pipeline.dataset.files import Place, place_of
from endive.pipeline.dataset.previous_format import summary
from endive.pipeline.dataset.referred_files import CONFIG_BYTES_MAX, with_kept_paths
from endive.pipeline.dataset.runs_table import RUNS, read_rows
from endive.report.reading import Study
from endive.storage import Profile, grouped_prices, load_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """USD for one request, by point and ``object.operation``; and where they come from, or why there are none."""

    usd_per_request: Mapping[int, Mapping[str, float]]
    note: str


def find_prices(study: Study) -> Prices:
    """Prices of every point whose profile has them."""
    configs = point_configs(study)
    if not configs:
        return Prices(usd_per_request={}, note="Prices are not shown: the runs' configurations are not in the folder.")
    return prices_of(configs)


def prices_of(configs: Mapping[int, Mapping[str, Any]]) -> Prices:
    """Prices of every point whose profile has them, by its resolved configuration."""
    prices: dict[int, dict[str, float]] = {}
    sources: dict[str, None] = {}
    without: dict[str, None] = {}
    for point, config in configs.items():
        profile = _profile(config["storage"]["provider"], config["storage"].get("vintage", "measured"))
        if profile is None or not profile.prices:
            without[Path(config["storage"]["provider"]).name] = None
            continue
        prices[point] = usd_by_request(profile, config["catalog"]["type"])
        sources |= {f"{profile.name}: {operations} {price}": None for operations, price in grouped_prices(profile)}
    if not prices:
        which = ", ".join(without)
        return Prices(usd_per_request={}, note=f"No price is shown: the storage profile ({which}) states none.")
    missing = f" Without a price: {', '.join(without)}." if without else ""
    return Prices(
        usd_per_request=prices,
        note=f"Prices are those of the profile, and count only the operations it names: {'; '.join(sources)}.{missing}",
    )


def point_configs(study: Study) -> dict[int, dict[str, Any]]:
    """Return the resolved configuration of each point, from the sweep's table of runs."""
    try:
        folder = place_of(study.folder)
        table = run_configs(folder, study.name)
    except (OutputError, OSError, pa.ArrowException):
        return {}
    configs: dict[int, dict[str, Any]] = {}
    for point, text in zip(table["point"].to_pylist(), table["config"].to_pylist(), strict=True):
        if point not in configs:
            with refused_as(OutputError):
                name = f"The configuration of point {point} in {study.folder}"
                told = parse_json(text, name=name, bytes_max=CONFIG_BYTES_MAX)
            configs[point] = with_kept_paths(told, folder)
    return configs


def run_configs(folder: Place, study: str) -> pa.Table:
    """Read ``point`` and ``config`` of each run of a study, in either format of a dataset."""
    earlier = summary(folder, RUNS, study)
    if not earlier.is_file():
        return read_rows(folder, study, ["point", "config"])
    with earlier.parquet() as file:
        return file.read(columns=["point", "config"])


@lru_cache(maxsize=64)
def _profile(provider: str, vintage: str) -> Profile | None:
    try:
        return load_profile(provider, vintage)
    except (EndiveError, OSError):
        return None
