"""Metrics of a run, from its log."""
