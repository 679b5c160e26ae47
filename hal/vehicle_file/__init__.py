"""Reads vehicle files: TOML to typed tables, and what is wrong as one sentence."""
