"""Small configurations whose answers are quick."""

import pytest

from endive.answers.variation import Base, base_of
from endive.config import SimulationConfig, parse_config


@pytest.fixture
def busy() -> SimulationConfig:
    """Writers that lose now and then, beside a job that overwrites; a few hundred txns in four minutes."""
    return busy_config()


def busy_config(clients: int = 8, **sections: dict[str, object]) -> SimulationConfig:
    """The same with so many writers, and with sections of one's own."""
    return parse_config(
        {
            "simulation": {"duration_ms": "4min", "warmup_ms": "30s", "cooldown_ms": "30s", "seed": 1},
            "storage": {"provider": "s3"},
            "catalog": {"type": "service", "latency_ms": 5, "num_tables": 2},
            "source": [
                {
                    "name": "writers",
                    "arrivals": {"kind": "closed", "clients": clients, "think_ms": "1s"},
                    "runtime": {"distribution": "fixed", "ms": 2_000},
                },
                {
                    "name": "merge",
                    "operation_types": {"validated_overwrite": 1.0},
                    "arrivals": {"kind": "periodic", "period_ms": "20s"},
                    "runtime": {"distribution": "fixed", "ms": 10_000},
                },
            ],
            **sections,
        }
    )


def regular(name: str, period: str, kind: str, **keys: object) -> dict[str, object]:
    """A source by the clock."""
    arrivals = {"kind": "periodic", "period_ms": period}
    return {"name": name, "arrivals": arrivals, "operation_types": {kind: 1.0}, **keys}


def jobs_that_meet_in_some_runs() -> Base:
    """Their phases are drawn once per run: in some runs they meet all the time, in others never."""
    jobs = {"name": "jobs", "arrivals": {"kind": "jobs", "jobs": 8, "period_ms": "10s"}, "runtime": "1s"}
    slo = {"objective": "jobs.success_rate >= 10 %"}
    return base_of({"simulation": {"duration_ms": "10min"}, "source": [jobs], "catalog": {"type": "cas"}, "slo": slo})


def merge_config(duration: str) -> SimulationConfig:
    """An hourly MERGE of twenty minutes, and every half hour a compaction that rewrites files it touches."""
    merge = {"recipe": "spark_merge_cow", "interval_ms": "1h", "working_ms": "20min", "touched_files": 200}
    compaction = {"recipe": "spark_rewrite_data_files", "interval_ms": "30min", "touched_files": 500}
    return parse_config(
        {
            "simulation": {"duration_ms": duration},
            "catalog": {"type": "service", "latency_ms": 5},
            "table": {"data_files": 1_000},
            "source": [{"name": "merge", **merge}, {"name": "compaction", **compaction}],
        }
    )
