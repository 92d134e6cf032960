"""Answers: does it meet the objective, how far can it go, what should change, what happened to one txn."""
