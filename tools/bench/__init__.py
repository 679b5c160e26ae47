"""Benchmarks: ticks, wire exchanges, plant steps, each next to a peer."""
