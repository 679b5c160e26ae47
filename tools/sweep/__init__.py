"""A scenario over a grid of settings, on many cores or machines."""
