"""A controller's run on a computer: the session of each vehicle, the clock loop, and the services around them.

One session and one clock loop serve every kind of run: on the vehicle, simulated, on emulated chips, the controller
side of a HIL link, and a replay. So their logs have the same topics. An on-vehicle run needs neither the plant nor
numpy. systemd's watchdog is fed from the loop's own tick.
"""
