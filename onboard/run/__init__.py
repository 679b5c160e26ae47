"""A controller's run on a computer: the session of each vehicle, the clock loop, and the services around them."""
