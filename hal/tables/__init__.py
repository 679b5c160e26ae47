"""The tables of a vehicle file that the HAL owns: channels, and the devices of each kind of computer.

A motor's thrust is given once, as tables and polynomials by battery voltage (`[motor.NAME]`); `use` selects one of
them, and thrusters name the motor.
"""
