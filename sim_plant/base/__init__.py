"""Compilation of kernels, spatial algebra, geometry and random numbers."""
