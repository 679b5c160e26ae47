"""Dynamics of bodies in maximal coordinates, for closed chains.

Every body has coordinates of its own; impulses of joints, closures and cables hold the bodies together. It is also
the independent check of tree/.
"""
