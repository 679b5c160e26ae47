"""Walls and obstacles of a world, and contact with them."""
