"""What runs on the vehicle: sense, estimate, guide, control, safety gate, act."""
