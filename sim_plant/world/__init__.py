"""Worlds that hold vehicles, and the kernel call that moves all of them on by one step."""
