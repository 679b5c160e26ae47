"""Deployment to a Raspberry Pi or a microcontroller."""
