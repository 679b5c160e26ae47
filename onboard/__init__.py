"""The controller of a vehicle: sense, estimate, guide, control, limit.

Runs on a vehicle's computer, on a microcontroller and against a simulated plant, with the same source. It imports hal
and nothing else of the project. build.py builds a loop from a vehicle's settings; core/loop.py is the loop.

Scenarios are data in the vehicle file: a task, its settings, a world, a duration. A row of a schedule may say what
speed or turn rate it leads to, and the run checks that; `set` changes keys of the file for that scenario only. So
there is no folder of scenario code.
"""
