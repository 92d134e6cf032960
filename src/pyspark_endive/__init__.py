"""Registers the data source ``endive`` with PySpark, which looks for modules of this kind of name.

Owns nothing but the name Spark expects; see ``endive.pipeline.datasource``.
"""

from endive.pipeline.datasource import EndiveDataSource as DefaultSource

__all__ = ["DefaultSource"]
