"""Excitation trajectories: motions from which a vehicle can be identified best.

The default objective is D-optimality for the noise of the vehicle's sensors. The raw condition number measures mostly
the vertical limits (at its optimum it is 1 / RMS of the heave acceleration); `caudal excite --help` explains this.
"""
