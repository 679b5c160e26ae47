"""Simulated runs: one vehicle or several, scenarios and open-loop experiments."""
