"""Tasks and behaviours: from estimates to what the vehicle wants next."""
