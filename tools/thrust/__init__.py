"""A thruster's map from its bench data."""
