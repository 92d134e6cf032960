"""Registers the data source ``endive`` with PySpark, which looks for modules of this kind of name.

This file gives the data source the name Spark expects; see ``endive.pipeline.sweep.datasource``.
"""

from endive.pipeline.sweep.datasource import EndiveDataSource as DefaultSource

__all__ = ["DefaultSource"]
