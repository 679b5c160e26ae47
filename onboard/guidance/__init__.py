"""Tasks and modes: from estimates to setpoints."""
