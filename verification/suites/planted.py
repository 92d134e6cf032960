"""Bugs planted on purpose, to see whether the observer of a run catches them.

They are planted in every kind of catalog with every scope it has. The verdict is ``verification.suites.isolation``'s.

A bug is planted as a user would plant it, in a part of his own: the simulator itself has no switch for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from endive.catalog import Catalog, CatalogSnapshot, CatalogState, CommitResult, IntentionRecord
from endive.config import SimulationConfig, parse_config
from endive.errors import HistoryError
from endive.simulation.build import build_catalog
from endive.simulation.simulation import Simulation
from endive.storage import StorageProvider
from endive.transaction import Transaction
from endive.transaction.failures import INSTALLED, REFUSED
from endive.vocabulary import KINDS

Config = dict[str, Any]
Plant = Callable[[Catalog], None]

_SCOPES: Final = ("catalog", "group", "table", "partition")


# ---- where they are planted ------------------------------------------------------------------------------


def configuration(catalog: Mapping[str, Any], **sections: Any) -> Config:
    """Eight writers that meet all the time, for ten seconds: half of them append, half overwrite."""
    return {
        "simulation": {"duration_ms": 10_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": 6.0},
        "catalog": {"num_tables": 3, **catalog},
        "transaction": {
            "retry": 6,
            "runtime": {"distribution": "exponential", "mean_ms": 40.0},
            "operation_types": {"fast_append": 0.5, "validated_overwrite": 0.5},
            "tables": {"count": 2, "write_fraction": 0.5},
        },
        "source": [{"name": "writers", "arrivals": {"kind": "closed", "clients": 8, "think_ms": 15.0}}],
        **sections,
    }


def configurations() -> dict[str, Config]:
    """Every kind of catalog, with every scope it has."""
    found: dict[str, Config] = {}
    for scope in _SCOPES:
        keys: Config = {"scope": scope}
        if scope == "group":
            keys["num_groups"] = 2
        if scope == "partition":
            keys["partitions"] = {"enabled": True, "num_partitions": 4}
        found[f"cas, {scope}"] = configuration({"type": "cas", **keys})
        found[f"instant, {scope}"] = configuration({"type": "instant", "latency_ms": 4.0, **keys})
    found["service, pointer"] = configuration({"type": "service", "latency_ms": 4.0})
    rest = {"flavour": "rest", "workers": 2, "time": {"distribution": "fixed", "ms": 1.0}, "server_retries": 2}
    found["service, rest"] = configuration({"type": "service", "latency_ms": 4.0, "service": rest})
    for preset in ("log", "append_design"):
        log = {"type": "append", "append_preset": preset, "compaction_max_entries": 10}
        found[f"append, {preset}"] = configuration(log)
    return found


# ---- the bugs --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A mistake a simulator could make, and the words it is caught with."""

    name: str
    says: tuple[str, ...]
    plant: Plant | None = None  # in a catalog
    transaction: type[Transaction] | None = None  # or mixed into every kind of txn

    def is_caught_by(self, told: str | None) -> bool:
        """Whether the observer said the right thing."""
        return told is not None and any(words in told for words in self.says)


def skip_check(catalog: Catalog) -> None:
    """The server installs whatever comes, without looking at what has moved."""

    def decide(intention: IntentionRecord) -> bool:
        catalog.state.apply(intention)
        return True

    catalog._decide = decide  # type: ignore[method-assign]


class _Forgetful:
    """A server's state on which every fifth txn's commit counts and writes nothing."""

    def __init__(self, state: CatalogState) -> None:
        self._state = state

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def apply(self, intention: IntentionRecord, now_us: int = 0) -> None:
        """Install a commit, or only its number."""
        self._state.apply(intention._replace(n_written=0) if intention.txn_id % 5 == 4 else intention, now_us)


def forget_versions(catalog: Catalog) -> None:
    """A commit moves the sequence number and leaves the tables as they were."""
    catalog.state = _Forgetful(catalog.state)  # type: ignore[assignment]


def _early(catalog: Catalog, is_restamped: bool) -> None:
    read = catalog.read

    def early(**request: Any) -> Generator[int, None, CatalogSnapshot]:
        seen = catalog.state.snapshot(catalog._clock.now_us)
        late = yield from read(**request)
        return seen._replace(timestamp_us=late.timestamp_us) if is_restamped else seen

    catalog.read = early  # type: ignore[method-assign]


def read_at_arrival(catalog: Catalog) -> None:
    """A read shows the state of the moment it was sent, and says so."""
    _early(catalog, is_restamped=False)


def read_at_arrival_restamped(catalog: Catalog) -> None:
    """A read shows the state of the moment it was sent, and says it is that of the server's instant."""
    _early(catalog, is_restamped=True)


def lose_answer(catalog: Catalog) -> None:
    """Every third answer to a commit says that it was refused."""
    commit = catalog.commit

    def lossy(*request: Any, **keys: Any) -> Generator[int, None, CommitResult]:
        result = yield from commit(*request, **keys)
        is_lost = result.success and keys["client"].txn_id % 3 == 2
        return result._replace(success=False) if is_lost else result

    catalog.commit = lossy  # type: ignore[method-assign]


class RetryAfterUnknown(Transaction):
    """The answer to a txn's first successful commit is lost on the way, and the txn tries again."""

    has_lost_one = False

    def _swap(self, *attempt: Any) -> Generator[int, None, tuple[int, CatalogSnapshot | None]]:
        outcome, known = yield from super()._swap(*attempt)
        if outcome == INSTALLED and not self.has_lost_one:
            self.has_lost_one = True
            return REFUSED, None
        return outcome, known


class ReportsTooMuch(Transaction):
    """A txn that gave up says it committed."""

    def _commit(self, *attempt: Any) -> Generator[int, None, int]:
        yield from super()._commit(*attempt)
        return 0


BUGS: Final = (
    Bug(name="the logical check is skipped", says=("an update is lost",), plant=skip_check),
    Bug(name="a commit leaves out versions", says=("the versions before it plus one make",), plant=forget_versions),
    Bug(name="reads are evaluated at arrival", says=("but its request was at the server at",), plant=read_at_arrival),
    Bug(name="reads are evaluated at arrival, and restamped", says=("where version",), plant=read_at_arrival_restamped),
    Bug(name="an applied commit is reported as refused", says=("and had been applied",), plant=lose_answer),
    Bug(
        name="a txn retries after an unknown result",
        # An append catalog knows the txns of its log and refuses the second record; then the txn is told too little.
        says=("was applied for the second time", "and had been applied"),
        transaction=RetryAfterUnknown,
    ),
    Bug(name="an aborted txn is reported as committed", says=("and was never applied",), transaction=ReportsTooMuch),
)


# ---- planting --------------------------------------------------------------------------------------------


def run_planted(bug: Bug, mapping: Config) -> str | None:
    """Simulate with the bug; what the observer says, or None if it says nothing."""
    config = parse_config(mapping)
    try:
        _simulation(bug, config).run(engine="reference")
    except HistoryError as error:
        return str(error)
    return None


def _simulation(bug: Bug, config: SimulationConfig) -> Simulation:
    def make(storage: StorageProvider, state: CatalogState) -> Catalog:
        catalog = build_catalog(config, storage, state)
        if bug.plant is not None:
            bug.plant(catalog)
        return catalog

    types: dict[str, type[Transaction]] = {}
    if bug.transaction is not None:
        types = dict.fromkeys(KINDS, type("PlantedTransaction", (bug.transaction, Transaction), {}))
    return Simulation(config, catalog=make, transaction_types=types)
