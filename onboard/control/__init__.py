"""Controllers: pure steps from estimates and wants to gait settings and commands."""
