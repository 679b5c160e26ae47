"""The tables of a vehicle file that the HAL owns: channels, and the devices of each kind of computer."""
