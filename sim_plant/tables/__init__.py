"""The tables of a vehicle file that the plant owns: schema and validation.

Worlds and open-loop experiments (`[world.NAME]`, `[trial.NAME]`) belong to the plant, scenarios to the control stack.
So the control stack never reads a world, and runs without the plant installed.
"""
