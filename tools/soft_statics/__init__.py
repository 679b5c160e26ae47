"""`caudal bend`: static bending of soft joints in a cross flow."""
