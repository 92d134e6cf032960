"""The compiled engine: events over arrays, rules shared with the reference engine."""

from endive.simulation.compiled.engine import CompiledEngine

__all__ = ["CompiledEngine"]
