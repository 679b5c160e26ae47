"""Board, channels, unit maps and fixed-point numbers, for every runtime. Portable.

- A board has named channels, resolved to indices once, and a driver with `read(counts)`, `write(outputs)`, `close()`,
  in integers of device units. `None` is no reading; as an output it is off: no pulse, no current, a motor's neutral.
- Commands are integers of 1/16384 of the SI unit, and readings that integer stages use are integers of 2**-20. Gait,
  limiter and servo maps are integer arithmetic, so that every runtime gives the same microseconds to the bit, and a
  microcontroller allocates nothing between guidance steps. Guidance and its estimates are floats.
- The map of an actuator may `follow` a sensor: a thruster's follows the battery voltage, a valve's its chamber, by
  the pressure loop of pressure_loop.py.
"""
