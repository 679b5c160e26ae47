"""What the search for an excitation trajectory costs beside scipy's SLSQP, on the tank and the limits of rov.toml."""

from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.tools.excite import command as excite
from caudal.tools.excite.bezier import curve
from caudal.tools.excite.initial_guess import middle
from caudal.tools.excite.tables import read


def bench(seed: int = 0) -> dict[str, Any]:
    """The raw condition number from one start, ours and SLSQP's; CPU seconds of this process and its threads."""
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
