"""Drivers of a Raspberry Pi: a file per device, over buses that are passed in. CPython only.

- A driver is a generator, `run()`: it initialises the chip, then loops. Each `yield` is the delay before it is
  resumed.
- worker.py runs the devices of one bus in a thread, so that a hanging bus makes readings old and never delays a tick.
  There is no I2C in the control thread, nor in an event loop: a Pi's kernel blocks for a second on a stuck line. A
  device that fails is marked as lost with a reason, and started again.
- Every reading is verified: with each sample a driver reads a value that it knows (identity, PROM words, its own
  settings), so that a stuck bit, swapped bytes or a brown-out make a reading absent, never wrong.
- Outputs are written in one burst, before any reading. Devices are read half a tick before the loop's tick, so that a
  sample is half a tick old when it is used.
- Only the PCA9685 uses Adafruit's package. Its other drivers sleep while a chip resets or converts (a BNO055 for 0.7
  s), which would delay the servos on the same bus. They are an independent check of the emulated chips in the tests.
"""
