"""What the search for an excitation trajectory costs beside scipy's SLSQP, on limits that are always the same."""

from typing import Any

from hal.vehicle_file import VehicleFile
from tools import excite
from tools.excite_curve import curve
from tools.excite_spec import read
from tools.excite_start import middle

# Five segments of order 20, 280 s in a tank of 6.3 m x 3.7 m: one freedom after the other, then all.
REFERENCE = """
[excite]
order = 20
segment_s = [56.0, 56.0, 56.0, 56.0, 56.0]
start = { x_m = 3.15, y_m = 1.85, depth_m = 0.9, heading_rad = 0.0 }
end = { x_m = 3.15, y_m = 1.85, depth_m = 0.9, heading_rad = 0.0 }
low = { x_m = 0.65, y_m = 0.65, depth_m = 0.4, heading_rad = -3.141592653589793 }
high = { x_m = 5.65, y_m = 3.05, depth_m = 1.4, heading_rad = 3.141592653589793 }
velocity = { x_m_s = 0.4, y_m_s = 0.4, depth_m_s = 0.3, heading_rad_s = 0.6 }
acceleration = { x_m_s2 = 0.2, y_m_s2 = 0.2, depth_m_s2 = 0.2, heading_rad_s2 = 0.4 }
excited = [["x"], ["y"], ["depth"], ["heading"], ["x", "y", "depth", "heading"]]
rest_pose = { x_m = 0.1, y_m = 0.1, depth_m = 0.1, heading_rad = 0.1 }
rest_velocity = { x_m_s = 0.05, y_m_s = 0.05, depth_m_s = 0.05, heading_rad_s = 0.05 }
rest_acceleration = { x_m_s2 = 0.05, y_m_s2 = 0.05, depth_m_s2 = 0.05, heading_rad_s2 = 0.05 }
"""


def bench(seed: int = 0) -> dict[str, Any]:
    """The raw condition number from one start, ours and SLSQP's; CPU seconds of this process and its threads."""
    shape = curve(read(VehicleFile.parse(REFERENCE, "the reference limits")))
    (own,) = excite.find(shape, "cond", None, middle(shape, "the reference limits"), 1, seed)
    peer = excite.against(shape, "cond", None, own)
    return {
        "excite_condition_number": excite.shown(shape, "cond", own.found),
        "excite_cpu_s": own.cpu_s,
        "slsqp_condition_number": peer["slsqp_condition_number"],
        "slsqp_cpu_s": peer["slsqp_cpu_s"],
        "slsqp_as_good": peer["slsqp_as_good"],
        "slsqp_to_excite_cpu": peer["slsqp_to_own_cpu"],
    }
