"""The loop, and the parts of every vehicle's loop: state, modes, commands, failsafe rules, output limiter. Portable.

- A loop does not read a clock: its owner calls `tick(late_us)`. It depends on counts, lateness and commands only. All
  three are recorded, so that a replay gives the same commands.
- A failsafe rule has a trigger condition, a delay, an action and a way to clear. The strongest action of all active
  rules takes effect. A condition is present, absent, or unknown since its sensor timed out; then the rule keeps its
  state. The output limiter comes last, and nothing passes around it.
- A disarm is executed before all other commands, and cancels every pending arm.
- actuator_monitor.py runs before the estimators. It compares the feedback of each actuator with its last output,
  behind a lag, and marks it in `state.not_following`; failsafe rules, gait, allocation and chain use the mark. A
  marked joint still gets its set-points: only so can it show that it follows again. That costs the servo's stall
  current.
- A thruster's feedback is its speed, not its current: thrust is c n**2 at any battery voltage. Without telemetry no
  thruster is marked: the disturbance that the filter estimates has three directions, in which two level thrusters
  each share an axis, and a current of the water looks like either.
"""
