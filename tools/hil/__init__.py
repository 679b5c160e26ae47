"""Hardware in the loop: the plant at one end of a serial line, the controller at the other.

reconnecting_port.py opens a line by name again after it was unplugged. slew_back.py returns joints to their
set-points within their slew rate after a gap, because only the plant side knows their last positions. Faults on the
line and the pytest fixture `bench` run without a clock: both sides are in one process, in lockstep.
"""
