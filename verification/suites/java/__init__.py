"""The simulator held against Java Iceberg: recordings, scenarios, and the model's side of both.

The rigs that made the recordings live in the top-level ``rigs/java`` of a checkout.
"""
