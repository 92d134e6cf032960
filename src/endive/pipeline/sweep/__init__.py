"""A study is simulated: planned, packed, run on Spark's workers, written down part by part."""
