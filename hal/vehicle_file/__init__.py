"""Reads vehicle files: TOML to typed tables; the first error is reported as one sentence.

hal, onboard and sim_plant each declare their own tables and read them here. The plant imports this room, because the
alternative would be a second copy of it.
"""
