"""Gaits: the travelling wave, its look-up table, and the central pattern generator."""
