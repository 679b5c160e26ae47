"""Simulated devices: servos, motors, valves and sensors.

- A plant's motor is the bench measurement itself, thinned (`[plant.motor.NAME]`), so that the error of a vehicle's
  map is an error in simulation too. A thruster's force acts at its position, at the battery's voltage, which sags
  with the current.
- Each sensor has its own rate and its own random numbers, so that no sensor changes another.
"""
