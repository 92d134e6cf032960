"""Real PyIceberg with every request in a journal, played alone and under load.

What is recorded with it, and the model held against the recordings, live in ``verification.suites.pyiceberg``.
"""
