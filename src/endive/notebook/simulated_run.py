"""``endive.simulate``: one run that shows itself, or several with their doubt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from endive.answers.answer import Answer
from endive.answers.cases import assess
from endive.answers.length import long_enough
from endive.answers.replicate import Replicator
from endive.answers.run_answer import RunAnswer
from endive.answers.sample import SampleSink
from endive.answers.variation import ConfigLike, base_of
from endive.config.slo import objective_of
from endive.errors import OutputError
from endive.notebook.answers import Runs
from endive.render.html import answer_html
from endive.render.terminal import answer_text
from endive.results import SimulationResult
from endive.simulation import Simulation


class Run(SimulationResult):
    """One run: everything a result has, and an answer in a notebook."""

    def __init__(self, result: SimulationResult, answer: RunAnswer) -> None:
        self.__dict__.update(result.__dict__)
        self.answer = answer

    def to_answer(self) -> Answer:
        """Return the answer of this one run."""
        return self.answer.to_answer(self.answer.name)

    def __repr__(self) -> str:
        return answer_text(self.to_answer())

    def _repr_html_(self) -> str:
        return answer_html(self.to_answer(), with_style=True)

    def to_pandas(self) -> Any:
        """Return the txns as a pandas frame, where pandas is installed."""
        return self.transactions.to_pandas()

    def to_polars(self) -> Any:
        """Return the txns as a polars frame, where polars is installed."""
        try:
            import polars
        except ImportError:
            raise OutputError("to_polars needs the package polars, which is not installed.") from None
        return polars.from_arrow(self.transactions)

    def plot(self) -> Any:
        """Commit latency by source, and where it goes; needs the extra ``report``."""
        from endive.report.charts.run_chart import run_chart
        from endive.report.run_page import ages_by_source

        blocks = self.to_json_dict()["by_source"]
        phases = {name: block["phases_ms"] for name, block in blocks.items()}
        return run_chart(self.transactions, phases, ages_by_source(self.answer.config, self.transactions))


@overload
def simulate(
    config: ConfigLike,
    seed: int | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    seeds: None = None,
    slo: str | None = None,
    engine: str = "auto",
) -> Run: ...
@overload
def simulate(
    config: ConfigLike,
    seed: int | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    seeds: int,
    slo: str | None = None,
    engine: str = "auto",
) -> Runs: ...
def simulate(
    config: ConfigLike,
    seed: int | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    slo: str | None = None,
    engine: str = "auto",
) -> Run | Runs:
    """Return run a configuration, a mapping of its keys, or a TOML file; with ``seeds`` that many times.

    Without ``seeds`` the result is that of one run, which has no intervals.
    """
    base = long_enough(base_of(config).varied(overrides or {}), slo)
    resolved, notes = base.config, base.notes
    if seed is not None:
        resolved = resolved.with_seed(seed)
    objective = objective_of(resolved, slo)
    name = resolved.experiment.label or "run"
    if seeds is not None:
        with Replicator() as replicator:
            samples = replicator.take(resolved, seeds)
            assessment = assess(resolved, objective, samples, replicator)
        return Runs(RunAnswer(resolved, tuple(samples), objective, name, notes, assessment))
    sink = SampleSink(resolved)
    result = Simulation(resolved).run(engine=engine, sink=sink)
    alone = (sink.sample(resolved.simulation.seed),)
    return Run(result, RunAnswer(resolved, alone, objective, name, notes))
