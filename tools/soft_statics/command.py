"""Computes the static bending of soft joints in a cross flow under three kinematic models.

The base of the vehicle is clamped and water flows across it, to port. Three shapes at rest are compared: all joints
straight, only the last one bent to port, and all bent to port. The table gives the displacement of the end in the flow
if a soft joint is a universal joint (suj), an arc (cc) or arcs in series (pcc), with the same springs and drag. With
more arcs, pcc converges to the elastic line of a beam.

Expected results: at 30 degrees all three models agree within 3 per cent, in no fixed order. Where joints rest at large
angles, one arc yields about 5 per cent less than the universal joint, whose slides keep the length of the arc at rest.
A universal joint with the length of the bent arc agrees with the arc within 1 per cent.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.sim_plant.tables import read as sim_plant_spec
from caudal.tools.common import options, output

if TYPE_CHECKING:
    from caudal.tools.soft_statics.page import Lines
    from caudal.tools.soft_statics.solver import Equilibrium, Joint, Module

MODELS = ("suj", "cc", "pcc")
HEAD = ("shape", "model", "displacement mm", "of suj %", "x mm", "y mm", "z mm", "joints deg")
MOST_M_S, MOST_DEG, MOST_PIECES = 5.0, 88.0, 12


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of `caudal bend`."""
    options.add_vehicle(command)
    command.add_argument(
        "--flow",
        metavar="M_S",
        type=float,
        default=0.5,
        help="speed of the water to port, m/s; negative: to starboard (default 0.5)",
    )
    command.add_argument(
        "--bend",
        metavar="DEG",
        type=float,
        default=30.0,
        help="bending angle of a bent joint at rest, to port; negative: to starboard (default 30)",
    )
    command.add_argument(
        "--pieces",
        metavar="N",
        type=options.whole,
        default=3,
        help=f"number of arcs per joint in pcc, up to {MOST_PIECES} (default 3)",
    )
    command.add_argument(
        "--stiff", action="store_true", help="use the stiffness at full pressure instead of the lowest one"
    )
    command.add_argument("--page", metavar="FILE", type=Path, help="path of the page (default: under runs/)")
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Runs `caudal bend`."""
    from caudal.tools.soft_statics import page as bend_page
    from caudal.tools.soft_statics.parts import parts_of

    check_range("--flow", args.flow, MOST_M_S, "m/s")
    check_range("--bend", args.bend, MOST_DEG, "degrees")
    check_range("--pieces", args.pieces, MOST_PIECES, "arcs")
    file = VehicleFile.open(vehicles.find(args.vehicle), args.set)
    name = file.read("name", str)
    parts = parts_of(sim_plant_spec.read(file), name, args.stiff)
    rows, lines = compare(parts, args.flow, math.radians(args.bend), args.pieces)
    page = args.page or Path("runs") / f"{name}-bend.html"
    inputs = {"flow_m_s": args.flow, "bend_deg": args.bend, "pieces": args.pieces, "stiff": args.stiff}
    table = cells(rows)
    bend_page.write(page, f"{name}: soft joints in a cross flow", inputs, (HEAD, table), lines)
    if args.json:
        output.as_json({"vehicle": name, **inputs, "balances": rows, "page": str(page)})
    else:
        output.table(table, HEAD)
        output.table([("page", str(page))])
    return 0


def check_range(option: str, value: float, most: float, unit: str) -> None:
    """Raises UsageError if an option is beyond its limit in either direction."""
    if not abs(value) <= most:
        raise output.UsageError(
            f"{option} {value:g} is out of range; allowed is -{most:g} to {most:g} {unit}"
        )


def compare(
    parts: "Sequence[Module | Joint]", flow_m_s: float, bend_rad: float, pieces: int
) -> "tuple[list[dict[str, Any]], dict[str, Lines]]":
    """Returns a row per shape and model, and per shape the lines in still water and in the flow."""
    from caudal.tools.soft_statics import solver

    joints = sum(isinstance(part, solver.Joint) for part in parts)
    shapes = {"straight": [0.0] * joints, "last bent": [0.0] * (joints - 1) + [bend_rad]}
    if joints > 1:
        shapes["all bent"] = [bend_rad] * joints
    rows: list[dict[str, Any]] = []
    lines: dict[str, Lines] = {}
    progress = output.Progress("solving", len(shapes) * len(MODELS), "chains")
    for shape, bends_rad in shapes.items():
        still = solver.build_chain(parts, "cc", 1, bends_rad)
        lines[shape] = {"still water": solver.Equilibrium(still, still.rest).line_m()}
        for model in MODELS:
            try:
                chain = solver.build_chain(parts, model, pieces, bends_rad)
                equilibrium = solver.equilibrium_in_flow(chain, flow_m_s)
            except solver.NoEquilibrium as error:
                raise output.UsageError(
                    f"{shape}, {model}: the joints fold, there is no equilibrium beyond {error.flow_m_s:.3g} m/s; "
                    f"reduce --flow or change --bend"
                ) from error
            lines[shape][model] = equilibrium.line_m()
            rows.append(row(shape, model, equilibrium))
            progress.at(len(rows))
    progress.end()
    return rows, lines


def row(shape: str, model: str, equilibrium: "Equilibrium") -> dict[str, Any]:
    """Returns the result of one shape and model by name."""
    x_m, y_m, z_m = equilibrium.displacement_m.tolist()
    return {
        "shape": shape,
        "model": model,
        "displacement_mm": 1e3 * math.hypot(x_m, y_m, z_m),
        "x_mm": 1e3 * x_m,
        "y_mm": 1e3 * y_m,
        "z_mm": 1e3 * z_m,
        "joints_deg": [math.degrees(bend) for bend in equilibrium.bends_rad()],
    }


def cells(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Formats the rows for the table, with each displacement in per cent of the universal joint's."""
    suj_mm = {row["shape"]: row["displacement_mm"] for row in rows if row["model"] == "suj"}
    table = []
    for row in rows:
        share = row["displacement_mm"] / suj_mm[row["shape"]] if suj_mm[row["shape"]] else 1.0
        numbers = (row["displacement_mm"], 100 * share, row["x_mm"], row["y_mm"], row["z_mm"])
        joints = ", ".join(f"{deg:.1f}" for deg in row["joints_deg"])
        table.append([row["shape"], row["model"], *(f"{number:.1f}" for number in numbers), joints])
    return table
