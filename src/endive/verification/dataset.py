"""The dataset of a sweep held against its own txns: ``endive verify dataset DIR``.

The comparison itself is in ``endive.pipeline.analysis.recount``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from endive.verification.suite import Check, Outcome

if TYPE_CHECKING:
    from endive.pipeline.sweep.run_sweep import SessionMaker

NAME: Final = "dataset"


def check_dataset(folder: Path, session: SessionMaker) -> Outcome:
    """One check per study and figure: how many of its values the txns give again."""
    from endive.pipeline.analysis.open_dataset import open_dataset
    from endive.pipeline.analysis.run_analysis import spark_errors

    dataset = open_dataset(folder)
    spark = session()
    with spark_errors():
        from endive.pipeline.analysis.recount import recount

        counts = recount(spark, dataset)
    checks = [
        Check.exact(
            each.figure,
            {"study": each.study},
            expected=each.values,
            actual=each.equal,
            unit="values",
            note=f"the first difference, written and derived: {each.difference}" if each.difference else "",
        )
        for each in counts
    ]
    return Outcome(suite=NAME, checks=tuple(checks), command=f"endive verify {NAME} DIR")
