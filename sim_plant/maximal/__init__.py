"""Dynamics of bodies in maximal coordinates, for closed chains."""
