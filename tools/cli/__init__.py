"""The command line, and commands of one file."""
