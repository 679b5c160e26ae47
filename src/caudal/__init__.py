"""Caudal: onboard controllers for vehicles that swim."""
