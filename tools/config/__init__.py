"""A vehicle file as the commands see it: all tables of HAL, control stack and plant."""
