"""Walls and obstacles, contact with them, and what sonar sees of them."""
