"""The HIL link: frames, payload layouts, handshake, link timeout, and the controller side. Portable.

One READINGS frame per tick, one OUTPUTS frame in answer: COBS, a CRC over the stuffed bytes, sequence and tick
numbers, a handshake with the vehicle file's digest (docs/wire.md). In lockstep, simulated time does not advance while
the plant waits, so HIL and simulation give identical commands. Each side puts its actuators into their safe state
when the link times out. The controller side replaces a driver, but is in onboard and not in hal, because it calls the
loop.
"""
