"""Deployment to a Raspberry Pi or a microcontroller (deploy/README.md).

The modules of a board's image are found by importing them for one scenario; a board gets settings as plain objects
with the same attributes as the Structs.
"""
