"""A loop that runs on a computer, in real time."""
