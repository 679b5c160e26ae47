"""Fault injection: kinds of faults, and how each is injected into a run."""
