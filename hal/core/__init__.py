"""Board, channels, unit maps and fixed-point numbers: what every runtime needs. Portable."""
