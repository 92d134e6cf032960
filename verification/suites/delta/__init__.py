"""Suites that hold the model of Delta Lake against delta-rs and Delta Spark.

What they did was recorded by ``rigs/delta`` and lies in ``data/``: requests of single operations, verdicts
of pairs, and closed loops of both. Nothing of them is needed to compare.
"""
