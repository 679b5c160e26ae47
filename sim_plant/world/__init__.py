"""Worlds with their vehicles, and the kernels that step them."""
