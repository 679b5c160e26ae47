"""Static bending of soft joints in a cross flow: what three kinematic models say of it.

The vehicle is clamped at its base, water flows across it, to port, and its soft joints rest straight, the last one
bent, or all of them bent to port, as pressures would have it in still water. The table says how far the flow moves
the end when a soft joint is a universal joint (suj), an arc (cc) or arcs in series (pcc), with the same springs and
the same drag. More arcs come to the elastic line of the beam. What to expect: at 30 degrees all three agree within
three per cent, in no fixed order, because they share the lever on which the flow works. Where joints rest far bent, one
arc gives way some 5 per cent less than the universal joint: when the flow bends it back or on, its slides keep the
length of the bend at rest. With the length of an arc so bent, it is within a per cent of the arc.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.onboard import vehicles
from caudal.sim_plant.tables import read as sim_plant_spec
from caudal.tools.common import options, output

MODELS = ("suj", "cc", "pcc")
HEAD = ("shape", "model", "moved mm", "of suj %", "along x", "y", "z mm", "joints deg")
MOST_M_S, MOST_DEG, MOST_PIECES = 5.0, 88.0, 12


def arguments(command: argparse.ArgumentParser) -> None:
    options.add_vehicle(command)
    command.add_argument(
        "--flow",
        metavar="M_S",
        type=float,
        default=0.5,
        help="the water's speed to port, m/s; below 0 to starboard (default 0.5)",
    )
    command.add_argument(
        "--bend",
        metavar="DEG",
        type=float,
        default=30.0,
        help="how far to port a bent joint rests; below 0 to starboard (default 30)",
    )
    command.add_argument(
        "--pieces",
        metavar="N",
        type=options.whole,
        default=3,
        help=f"arcs that pcc makes of a joint, up to {MOST_PIECES} (default 3)",
    )
    command.add_argument(
        "--stiff", action="store_true", help="joints as stiff as pressure makes them, not as soft as they get"
    )
    command.add_argument(
        "--page", metavar="FILE", type=Path, help="where the page with pictures goes (default: below runs/)"
    )
    options.add_set(command)
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    from caudal.tools.soft_statics import page as bend_page
    from caudal.tools.soft_statics.parts import parts_of

    within("--flow", args.flow, MOST_M_S, "m/s")
    within("--bend", args.bend, MOST_DEG, "degrees")
    within("--pieces", args.pieces, MOST_PIECES, "arcs")
    file = VehicleFile.open(vehicles.find(args.vehicle), args.set)
    name = file.read("name", str)
    parts = parts_of(sim_plant_spec.read(file), name, args.stiff)
    rows, lines = compare(parts, args.flow, math.radians(args.bend), args.pieces)
    page = args.page or Path("runs") / f"{name}-bend.html"
    told = {"flow_m_s": args.flow, "bend_deg": args.bend, "pieces": args.pieces, "stiff": args.stiff}
    table = cells(rows)
    bend_page.write(page, f"{name}: soft joints in a cross flow", told, (HEAD, table), lines)
    if args.json:
        output.as_json({"vehicle": name, **told, "balances": rows, "page": str(page)})
    else:
        output.table(table, HEAD)
        output.table([("page", str(page))])
    return 0


def within(option: str, value: float, most: float, unit: str) -> None:
    if not abs(value) <= most:
        raise output.UsageError(f"{option} {value:g}: allowed is up to {most:g} {unit} either way")


def compare(
    parts: Sequence[Any], flow_m_s: float, bend_rad: float, pieces: int
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """A row for every shape and model, and the lines of each shape: at rest in still water and by each model."""
    from caudal.tools.soft_statics import solver

    joints = sum(isinstance(part, solver.Joint) for part in parts)
    shapes = {"straight": [0.0] * joints, "last bent": [0.0] * (joints - 1) + [bend_rad]}
    if joints > 1:
        shapes["all bent"] = [bend_rad] * joints
    rows: list[dict[str, Any]] = []
    lines: dict[str, dict[str, Any]] = {}
    progress = output.Progress("balancing", len(shapes) * len(MODELS), "chains")
    for shape, bends_rad in shapes.items():
        still = solver.lay(parts, "cc", 1, bends_rad)
        lines[shape] = {"still water": solver.Balance(still, still.rest).line_m()}
        for model in MODELS:
            try:
                laid = solver.lay(parts, model, pieces, bends_rad)
                balance = solver.rest_in_flow(laid, flow_m_s)
            except solver.NoBalance as error:
                raise output.UsageError(
                    f"{shape}, the {model} joints find no rest beyond {error.flow_m_s:.3g} m/s and fold; "
                    f"ask for less --flow or another --bend"
                ) from error
            lines[shape][model] = balance.line_m()
            rows.append(row(shape, model, balance))
            progress.at(len(rows))
    progress.end()
    return rows, lines


def row(shape: str, model: str, balance: Any) -> dict[str, Any]:
    x_m, y_m, z_m = balance.displacement_m.tolist()
    return {
        "shape": shape,
        "model": model,
        "displacement_mm": 1e3 * math.hypot(x_m, y_m, z_m),
        "x_mm": 1e3 * x_m,
        "y_mm": 1e3 * y_m,
        "z_mm": 1e3 * z_m,
        "joints_deg": [math.degrees(bend) for bend in balance.bends_rad()],
    }


def cells(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """For people: in tenths, and every model beside the universal joint."""
    suj_mm = {row["shape"]: row["displacement_mm"] for row in rows if row["model"] == "suj"}
    table = []
    for row in rows:
        share = row["displacement_mm"] / suj_mm[row["shape"]] if suj_mm[row["shape"]] else 1.0
        moved = [f"{row[key]:.1f}" for key in ("x_mm", "y_mm", "z_mm")]
        joints = ", ".join(f"{deg:.1f}" for deg in row["joints_deg"])
        table.append(
            [
                row["shape"],
                row["model"],
                f"{row['displacement_mm']:.1f}",
                f"{100 * share:.1f}",
                *moved,
                joints,
            ]
        )
    return table
