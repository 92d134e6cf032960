"""What a measurement of a store will ask for, before it asks: requests, time and price.

The plan is shown and confirmed first. Prices are those of the built-in profile of the same kind of store, where it has
them; what a request really costs is the provider's to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from endive.errors import ConfigError
from endive.storage import DELETE, HEAD, READ, WRITE, load_profile

SIZES_BYTES: Final = (8 * 1024, 64 * 1024, 1024 * 1024)
CLIENTS: Final = (1, 2, 4, 8, 16)
SAMPLES: Final = 40  # of each operation at each size
SAMPLES_MIN: Final = 10
SWAPS: Final = 60  # requests that change the object, of all clients of one step together
REHEARSED: Final = 3  # requests before the measurement: a PUT, a GET and a DELETE
SECONDS_PER_REQUEST: Final = 0.1  # assumed, for the estimate of time only
PROVIDERS: Final = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gcp",
    "az": "azure",
    "azure": "azure",
    "abfs": "azure",
    "abfss": "azure",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """How often each operation is asked for."""

    samples: int
    swaps: int  # at each number of clients; 0: conditional puts are not measured
    provider: str | None  # whose prices hold

    @property
    def requests(self) -> dict[str, int]:
        """Requests by operation; of swaps the most there can be, each with a HEAD before it."""
        each = self.samples * len(SIZES_BYTES)
        swaps = self.swaps * len(CLIENTS)
        conditional = swaps + 3 if self.swaps else 0
        removed = each + (len(CLIENTS) + 1 if self.swaps else 0)
        return {
            "put": each + conditional + 1,
            "get": each + 1,
            "head": each + conditional,
            "delete": removed + 1,
            "list": 1,
        }

    @property
    def total(self) -> int:
        """All requests."""
        return sum(self.requests.values())

    @property
    def seconds(self) -> float:
        """How long it may take: requests one after another, and each step of swaps side by side."""
        serial = self.samples * len(SIZES_BYTES) * 4
        swaps = sum(2 * self.swaps / clients for clients in CLIENTS)
        return SECONDS_PER_REQUEST * (serial + 2 * swaps)

    @property
    def usd(self) -> float | None:
        """The price by list, if the kind of store has one."""
        if self.provider is None:
            return None
        prices = load_profile(self.provider).prices
        codes = {"put": WRITE, "get": READ, "head": HEAD, "delete": DELETE, "list": WRITE}
        fallback = {HEAD: READ, DELETE: WRITE}
        total = 0.0
        for name, count in self.requests.items():
            price = prices.get(codes[name]) or prices.get(fallback.get(codes[name], codes[name]))
            total += 0.0 if price is None else count * price.usd_per_1000 / 1000.0
        return total if prices else None


def make_plan(scheme: str, *, requests_max: int, usd_max: float, with_swaps: bool) -> ProbePlan:
    """As many samples as fit below the limits; a limit below what is needed is refused."""
    for samples in range(SAMPLES, SAMPLES_MIN - 1, -1):
        swaps = max(20, round(SWAPS * samples / SAMPLES)) if with_swaps else 0
        plan = ProbePlan(samples=samples, swaps=swaps, provider=PROVIDERS.get(scheme))
        if plan.total <= requests_max and (plan.usd or 0.0) <= usd_max:
            return plan
    cost = "" if plan.usd is None else f" and {plan.usd:.4f} USD"
    raise ConfigError(
        f"--max-requests {requests_max} or --max-usd {usd_max:g} is too little: the smallest measurement takes "
        f"{plan.total} requests{cost}."
    )
