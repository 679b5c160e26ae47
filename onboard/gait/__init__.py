"""Gaits: the travelling wave, its look-up table, and the chain of oscillators that swims it."""
