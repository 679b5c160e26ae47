"""Estimators: from readings to what the vehicle believes of itself."""
