"""Dynamics of a tree of bodies in minimal coordinates."""
