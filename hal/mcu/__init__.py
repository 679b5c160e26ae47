"""A microcontroller's own pins and buses as a board's driver, through MicroPython's `machine`."""
