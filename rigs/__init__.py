"""Drivers of real Iceberg, Spark, PyIceberg and Delta Lake that make the recordings; see README.md."""
