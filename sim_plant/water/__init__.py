"""Forces of the water: drag, buoyancy, lift, slender bodies, waves, a tether; the Strouhal model of a beating tail.

- The Strouhal model gets no set-points: it reads frequency, amplitude and deflection off the servos' motion.
- The tether acts within the stages of a step: held constant over a step, it would return more energy than it took.
"""
