"""Spark SQL and Spark streaming on a real Iceberg, with a PySpark of their own: nothing of the package is imported."""
