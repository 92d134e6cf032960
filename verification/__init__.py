"""Slow checks, outside the tests: against closed forms, published measurements, and one engine against the other.

``python -m verification --list`` says what there is; each file also runs on its own.
"""
