"""Driver for a microcontroller's own pins and buses, through MicroPython's `machine`. Portable.

Each stack in onboard/build.py imports its own parts, so that an image holds the modules of one scenario only.
Schedules are converted to integers beforehand, and quantities that no stage reads are not estimated: a tick of a
scheduled vehicle allocates nothing. On a micro:bit the loop is divided before the gait: the host runs guidance; the
board has gait, limits and a link timeout of its own.
"""
