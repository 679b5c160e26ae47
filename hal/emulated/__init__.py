"""Chips register by register, from their datasheets, behind a bus that real drivers cannot tell from /dev/i2c-N.

A chip's inputs are set in its own counts, its outputs read as pulses; in between is nothing but what the bus carries.
CPython only.
"""
