"""The simulated plant: device units in, raw counts out."""
