"""Controllers: pure steps from estimates and set-points to gait settings and actuator commands. Portable.

- swim_model.py is the controller's model of a tail. The plant has its own (sim_plant/water/strouhal.py), on purpose:
  that one is the simulated truth. They have separate tables in the vehicle file and may differ, as on a real vehicle.
- There are two models of turning: turn rate per beat, as in the Strouhal model, and curvature, for a tail that works
  as a rudder.
- Shells damp the roll by its integral, not by its rate as published: the same at one frequency, but stable behind a
  servo's lag.
- `[control.model]` is the identified model of a vehicle with thrusters. Feed-forward and filters use it, `caudal
  identify` identifies it; the plant's tables hold the truth.
"""
