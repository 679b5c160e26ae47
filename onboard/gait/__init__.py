"""Gaits: a travelling wave, its look-up table, and the central pattern generator (a chain of oscillators). Portable.

Integer arithmetic, so that every runtime gives the same pulses and a tick allocates nothing. around.py plans the wave
around joints that do not follow: it takes two links with a jammed joint between them as one longer link whose ends
stay on the wave. The plan is integer arithmetic too and made within one tick, so that a microcontroller can make it;
its error is within 1.25 of the best least-squares fit.
"""
