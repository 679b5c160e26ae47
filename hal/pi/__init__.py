"""Drivers of a Raspberry Pi: a file a device, over buses that are passed in. CPython only."""
