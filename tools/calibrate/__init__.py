"""Calibration of servos, thrusters, oscillators and leak probes on the bench."""
