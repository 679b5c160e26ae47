"""Simulated devices: servos, motors, valves and sensors."""
