"""The tables of a vehicle file that the control stack owns: schema and validation."""
