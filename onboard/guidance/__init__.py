"""Guidance: tasks, modes and obstacle avoidance set the set-points. Portable; decisions in floats.

Avoidance predicts behaviours (turn rate x speed) and checks them against sonar arcs, instead of steering by rules. A
reversed wave is used only after the bumper: changing the wave's direction costs the beat that a turn needs.

Trajectories are tables of the vehicle file (`[trajectory.NAME]`), or come with `--with`: a log then contains them,
and a replay needs nothing else.
"""
