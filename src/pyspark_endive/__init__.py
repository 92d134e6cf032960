"""The name under which PySpark looks for the data source ``endive``."""

from endive.pipeline.dataset.datasource import EndiveDataSource as DefaultSource

__all__ = ["DefaultSource"]
