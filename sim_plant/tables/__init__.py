"""The tables of a vehicle file that the plant owns: schema and validation."""
