"""Delta Lake, as Delta Spark and delta-rs commit to it."""
