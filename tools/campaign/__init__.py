"""Fault campaigns: random faults, invariants checked each tick, failing cases minimized."""
