"""The loop and what every vehicle's loop has: state, modes, commands, failsafes, output limits. Portable."""
