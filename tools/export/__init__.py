"""`caudal export`: a vehicle's bodies and joints as URDF or MJCF."""
