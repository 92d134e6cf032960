"""The simulator held against PyIceberg: recordings, stories, and the model's side of both.

The rigs that made the recordings live in the top-level ``rigs/pyiceberg`` of a checkout.
"""
