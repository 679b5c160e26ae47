"""The command line, and commands of one file.

argparse is enough for two dozen commands; COMMANDS in main.py lists them, and only the module of the command in use
is imported.
"""
