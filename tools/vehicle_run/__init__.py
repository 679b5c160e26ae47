"""The vehicle's own run on its computer."""
