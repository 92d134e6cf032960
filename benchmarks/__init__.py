"""How fast, and how much memory: each file measures one thing side by side and can be run on its own.

Nothing here is a test. Figures mean something on a quiet machine only; every table opens with what the machine was
doing. ``python -m benchmarks --list`` says what there is.
"""
