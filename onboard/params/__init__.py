"""Parameters that can be changed while a vehicle runs, and the file that keeps them."""
