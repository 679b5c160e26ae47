"""A chain of rigid modules and soft joints: kinematics, dynamics, tasks in order of priority. Needs numpy.

A scenario lists tasks (`tasks`). Each gives rows J and the acceleration that it requires, J dv/dt = a. Barriers give
rows G dv/dt <= g: the distance of points all along the hull, bending angles and their rates. priority.py passes
model, tasks and barriers to a solver, which answers with thrusts: hierarchy.py, strict priority by small quadratic
programs in each other's null spaces, or null_space_projection.py, the published law with its signs and projectors
corrected. shape_plan.py governs the references: bending angles that bring base and hand to their references, or near
them, that thrusters can hold, and that avoid obstacles. Diagnostics of a tick (active limits, error of each task) are
recorded with the state.

- Pressures are not inputs of the solvers: they hold the shape's set-point (posture.py) and enter the model as
  measured. As inputs, or in a loop around each bending angle, they made runs diverge: a joint of 1 N m/rad takes half
  a minute to move 30 kg m2 of module and water, and the valve's lag only adds phase. So thrusters make fast forces
  and pressures lasting ones. The model takes a joint's slides as rigid.
- Bends are vectors (to port, up): near a quarter turn of th2, th1 of a universal joint rolls the far side without
  bending, and feedback on the angles oscillates there.
- A straight run has one feedback and one filter of the whole state, scheduled by speed. Tasks in order of priority
  became unstable above 0.5 m/s, and filters per axis and joint are unstable above 1.5 m/s with any controller. The
  filter's process noise enters through the thrusters, which leaves the loop margins for a tenth of thrust, or a tick.
- If a thruster of mid or head is lost, or the hand's orientation is free, a plan is held by one feedback of the whole
  state (shape_hold.py). Motions outside the tasks' rows were unstable otherwise. Pressures are inputs there. The
  gains are computed again every two seconds, a part per tick.
- straight_run.py and shape_hold.py compute thrusts and give the accelerations under them as tasks, so that solvers
  and limits stay the same.
- A free orientation of the hand gets a reference from the plan, as a task of its own: without one, the chain swings
  around the hand.
- daqp solves the programs: an active-set method in C for a dozen unknowns. Limits are relaxed by a millionth of a
  thruster's force, and by more where the solver takes a point in which many limits meet as infeasible.
"""
