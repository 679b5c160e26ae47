"""Dynamics of a tree of bodies in minimal coordinates.

The layout of a state is defined once, in arrays.py. Added inertia is inside the mass matrix and does not depend on a
body's immersion: its value is that at the vehicle's trim. If it changed, the change would be an additional force, or
energy would not be conserved. trial.py runs open-loop experiments: without board, servos and noise, so that the
results are those of the physics.
"""
