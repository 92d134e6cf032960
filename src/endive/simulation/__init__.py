"""Simulations: from a configuration to a result, on one engine or the other."""

from endive.simulation.simulation import Simulation, simulate

__all__ = ["Simulation", "simulate"]
