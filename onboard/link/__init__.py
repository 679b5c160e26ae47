"""Links: the bench wire between a controller and a plant or servo board, in device units."""
