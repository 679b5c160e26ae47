"""The tables of a vehicle file that the control stack owns: schema and validation.

Each table is a msgspec Struct. read.py returns all of them as one `Settings`, from which onboard/build.py builds a
loop. Worlds are tables of the plant (`[world.NAME]`), and a scenario only names one: so a vehicle without the plant
installed can read its file.
"""
