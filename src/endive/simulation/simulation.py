"""A simulation: a configuration, perhaps parts of the user's own, and a run."""

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from endive.config import SimulationConfig, load_simulation_config, parse_config
from endive.config.unsaid import what_is_unsaid
from endive.distributions.sampled import begin_run
from endive.errors import EngineError
from endive.results.history import HistoryCheck
from endive.results.provenance import Provenance
from endive.results.read_sets import ReadSet
from endive.results.result import RowSink, SimulationResult
from endive.results.window import Window
from endive.simulation.build import CatalogFactory, OwnParts, Parts, WorkloadFactory, build_parts
from endive.simulation.compiled import CompiledEngine
from endive.simulation.knowledge import known_figures
from endive.simulation.reference import Progress, ReferenceEngine
from endive.storage import StorageProvider
from endive.storage.client import TracedRequest
from endive.transaction import ConflictDetector, Transaction
from endive.workload.streams import streams_of

ENGINES = ("auto", "reference", "compiled")
ConfigLike = SimulationConfig | Mapping[str, Any] | str | os.PathLike[str]


def simulate(config: ConfigLike, seed: int | None = None, *, engine: str = "auto") -> SimulationResult:
    """Run one simulation and keep its txns: a configuration, a mapping of its keys, or a TOML file's path."""
    return Simulation(config).run(seed=seed, engine=engine)


class Simulation:
    """One configuration, ready to run as often as one likes; equal seeds give equal results."""

    def __init__(
        self,
        config: ConfigLike,
        *,
        storage: StorageProvider | None = None,
        catalog: CatalogFactory | None = None,
        workload: WorkloadFactory | None = None,
        conflict_detector: ConflictDetector | None = None,
        transaction_types: Mapping[str, type[Transaction]] | None = None,
    ) -> None:
        self.config = as_config(config)
        self._own = OwnParts(
            storage=storage,
            catalog=catalog,
            workload=workload,
            conflict_detector=conflict_detector,
            transaction_types=transaction_types,
        )
        self._ready: dict[int, Parts] = {}  # by seed: made to look at, and unused so far

    def run(
        self,
        seed: int | None = None,
        *,
        engine: str = "auto",
        sink: RowSink | None = None,
        progress: Progress | None = None,
        trace: list[TracedRequest] | None = None,
        read_sets: list[ReadSet] | None = None,
    ) -> SimulationResult:
        """Simulate. ``sink`` takes the rows (default: keep them in memory).

        ``trace`` collects every request, ``read_sets`` what each txn read and wrote of its tables.
        """
        seed = self.config.simulation.seed if seed is None else seed
        parts = self._ready.pop(seed, None) or build_parts(self.config, seed, self._own)
        chosen, _ = choose_engine(engine, parts, is_traced=trace is not None or read_sets is not None)
        if sink is None:
            sink = self.new_sink()
        figures = known_figures(self.config, parts.storage, parts.catalog)
        config_hash, unsaid = self._of_every_seed
        sink.start(Provenance(config_hash=config_hash, seed=seed, engine=chosen, figures=figures, unsaid=unsaid))
        history: HistoryCheck | None
        if chosen == "compiled":
            history = CompiledEngine(parts, sink, progress=progress).run()
        else:
            if self._own.are_given:
                begin_run(seed)
            history = ReferenceEngine(parts, sink, progress=progress, trace=trace, read_sets=read_sets).run()
        return sink.finish(history)

    @cached_property
    def _of_every_seed(self) -> tuple[str, tuple[str, ...]]:
        """The configuration's hash, and what it leaves unsaid: a fifth of a short run."""
        unsaid = () if self._own.conflict_detector is not None else what_is_unsaid(self.config.to_dict())
        return self.config.config_hash(), unsaid

    def engine_for(self, engine: str = "auto") -> tuple[str, str]:
        """The engine that ``run`` would take, and why."""
        seed = self.config.simulation.seed
        if seed not in self._ready:
            self._ready[seed] = build_parts(self.config, seed, self._own)
        return choose_engine(engine, self._ready[seed])

    def new_sink(self, **options: Any) -> RowSink:
        """A sink for a run of this configuration; options as of ``RowSink``."""
        section = self.config.simulation
        window = Window.of_ms(
            duration_ms=section.duration_ms, warmup_ms=section.warmup_ms, cooldown_ms=section.cooldown_ms
        )
        names = [source.name for source in self.config.sources]
        return RowSink(window, names, streams=streams_of(self.config), **options)


def as_config(config: ConfigLike) -> SimulationConfig:
    """Whatever describes a simulation, as a resolved configuration."""
    if isinstance(config, SimulationConfig):
        return config
    if isinstance(config, Mapping):
        return parse_config(config)
    return load_simulation_config(config)


def choose_engine(engine: str, parts: Parts, *, is_traced: bool = False) -> tuple[str, str]:
    """The engine that will run, and why."""
    if engine not in ENGINES:
        raise EngineError(f"engine = '{engine}' is not known. Choose one of: {', '.join(ENGINES)}.")
    if engine == "reference":
        return "reference", "as asked"
    own_part = parts.own_part()
    if own_part is None and not is_traced:
        return "compiled", "as asked" if engine == "compiled" else "every part is built in"
    reason = "only the reference engine writes down every request"
    if own_part is not None:
        reason = f"the {own_part} is not one of Endive's own, and only the reference engine runs yours"
    if engine == "compiled":
        raise EngineError(f"engine = 'compiled' cannot run this simulation: {reason}. Choose auto or reference.")
    return "reference", reason
