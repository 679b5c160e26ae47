"""Coordinates: a vehicle's own metres (x, y to port of x, depth) as north, east, down, and on the globe.

The globe counts as flat around the origin, with the ellipsoid's two radii there (WGS 84): the error is a few
centimetres at a kilometre, and tanks, pools and bays are smaller.
"""

import math

SEMI_MAJOR_M = 6378137.0
ECCENTRICITY2 = 6.69437999014e-3


class Coordinates:
    """Conversions. `origin`: latitude and longitude (degrees) of x = y = 0; `bearing_deg`: of x, from north."""

    def __init__(self, origin: tuple[float, float] | None, bearing_deg: float = 0.0) -> None:
        self.origin = origin
        self._bearing_rad = math.radians(bearing_deg)
        self._cos, self._sin = math.cos(self._bearing_rad), math.sin(self._bearing_rad)
        latitude = math.radians(origin[0]) if origin else 0.0
        curve = 1 - ECCENTRICITY2 * math.sin(latitude) ** 2
        self._north_m = math.radians(1) * SEMI_MAJOR_M * (1 - ECCENTRICITY2) / curve**1.5  # a degree's length
        self._east_m = math.radians(1) * SEMI_MAJOR_M * math.cos(latitude) / math.sqrt(curve)

    def north_east(self, x: float, y: float) -> tuple[float, float]:
        """North and east of x and y, positions or speeds."""
        return self._cos * x + self._sin * y, self._sin * x - self._cos * y

    def own(self, north: float, east: float) -> tuple[float, float]:
        """x and y of north and east."""
        return self._cos * north + self._sin * east, self._sin * north - self._cos * east

    def yaw_rad(self, heading_rad: float) -> float:
        """A heading, counter-clockwise from x, as a yaw, clockwise from north; the inverse is the same."""
        return math.remainder(self._bearing_rad - heading_rad, 2 * math.pi)

    def on_globe(self, x_m: float, y_m: float) -> tuple[float, float]:
        """Latitude and longitude, degrees; only with an origin."""
        assert self.origin
        north_m, east_m = self.north_east(x_m, y_m)
        return self.origin[0] + north_m / self._north_m, self.origin[1] + east_m / self._east_m

    def from_globe(self, latitude_deg: float, longitude_deg: float) -> tuple[float, float]:
        """x and y; only with an origin."""
        assert self.origin
        north_m = (latitude_deg - self.origin[0]) * self._north_m
        east_m = math.remainder(longitude_deg - self.origin[1], 360) * self._east_m
        return self.own(north_m, east_m)
