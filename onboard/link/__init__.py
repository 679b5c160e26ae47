"""The HIL link between a controller and a plant or a servo board, in device units."""
