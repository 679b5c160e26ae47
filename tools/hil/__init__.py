"""Hardware in the loop: the plant at one end of a serial line, the controller at the other."""
