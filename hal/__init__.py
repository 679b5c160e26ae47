"""The hardware-abstraction layer: one door (board), maps from SI to device units, drivers behind it."""
