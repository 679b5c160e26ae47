"""Estimators: from readings to attitude, depth, position and velocity. Portable; some in floats.

A pose is estimated by six small Kalman filters, three axes and three angles, written out, so that they run on a
microcontroller and each innovation has its own bound; the model couples them through the acceleration. Quantities
that no stage reads are not estimated.
"""
