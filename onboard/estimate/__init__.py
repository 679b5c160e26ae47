"""Estimators: from readings to the estimated motion of the vehicle."""
