"""Compares the optimizer of excitation trajectories with scipy's SLSQP, in the tank and limits of rov.toml."""

from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.tools.excite import command as excite
from caudal.tools.excite.bezier import curve
from caudal.tools.excite.initial_guess import middle
from caudal.tools.excite.tables import read


def bench(seed: int = 0) -> dict[str, Any]:
    """The raw condition numbers from the same start, and the CPU seconds of this process and its threads."""
    shape = curve(read(VehicleFile.open(vehicles.find("rov"))))
    (own,) = excite.find(shape, "cond", None, middle(shape, "rov.toml"), 1, seed)
    peer = excite.against(shape, "cond", None, own)
    return {
        "excite_condition_number": excite.shown(shape, "cond", own.found),
        "excite_cpu_s": own.cpu_s,
        "slsqp_condition_number": peer["slsqp_condition_number"],
        "slsqp_cpu_s": peer["slsqp_cpu_s"],
        "slsqp_as_good": peer["slsqp_as_good"],
        "slsqp_to_excite_cpu": peer["slsqp_to_own_cpu"],
    }
