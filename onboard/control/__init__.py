"""Controllers: pure steps from estimates and setpoints to gait settings and commands."""
