"""The command line and everything around a run: a room a command, or a kind of work."""
