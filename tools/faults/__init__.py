"""Fault injection: kinds of faults, and how each is injected into a run.

A fault is one line of text. `FaultInjector` starts and ends the faults of a vehicle: in front of its simulated body
(device_faults.py), in its loop (process_faults.py), in its commands (command_faults.py) or on its HIL link.
"""
