"""Excitation trajectories: motions from which a vehicle can be identified best."""
