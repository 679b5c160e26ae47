"""Fault campaigns: random faults, invariants checked in each tick, failing cases minimized.

The independent checks of failsafe rules (failsafe_oracle.py and its kin) share no code with the rules. They accept an
estimate only where raw readings do not contradict it. A case is vehicle, scenario, seed, seconds and faults and
nothing else, so that it can be run anywhere, again, and minimized.
"""
