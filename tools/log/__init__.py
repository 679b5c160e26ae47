"""Data that reports and views read from a log or a stream.

A log and a stream give the same snapshots, so that one scene shows both. Poses are computed from recorded joint
positions (poses.py, checked against the plant's), without numba.
"""
