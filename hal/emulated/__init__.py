"""Chips emulated register by register, from their data sheets, behind a bus like /dev/i2c-N. CPython only.

They run under the real smbus2 and Adafruit packages, with the plant behind them: inputs of a chip are set in its own
counts, outputs are read as pulses. The worker of hal/pi is the same, stepped in simulated time, and a transaction
takes as long as on a real bus. The counts of a tick are those that the chips held in the period before it, so that a
run on emulated chips gives the same commands, to the bit, as one without them.
"""
