"""Worlds with their vehicles, and the kernels that step them.

- A world holds vehicles of one model: the Strouhal model or trees of bodies. Both have the same actuators, contacts
  and sensors. All trees of a world are in one `Forest`, and one kernel call steps them all.
- The first start compiles in two processes (warm_up.py), because numba holds a lock while it compiles; they share the
  cache on disk. The argument types of a world never change, so that both can compile before there is a world.
- A soft joint is four joints of a tree in series (slide, hinge, hinge, slide); three chambers set the rest position
  and stiffness of their springs once per step. The hull's minimum distance is recorded at every step of the plant,
  not per tick.
"""
