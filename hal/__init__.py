"""The hardware abstraction layer: board, maps from SI to device units, drivers, and the reader of vehicle files.

Above the board all values are SI, below it integers of device units. hal imports neither onboard nor sim_plant; the
one exception is sim.py, the driver of a simulated vehicle.
"""
