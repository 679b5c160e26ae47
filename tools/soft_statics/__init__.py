"""Static bending of soft joints in a cross flow."""
