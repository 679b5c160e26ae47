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

import onboard.vehicle
import sim_plant.spec
from hal.vehicle_file import VehicleFile
from tools import options, say

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
    from tools import bend_page
    from tools.bend_parts import parts_of

    within("--flow", args.flow, MOST_M_S, "m/s")
    within("--bend", args.bend, MOST_DEG, "degrees")
    within("--pieces", args.pieces, MOST_PIECES, "arcs")
    file = VehicleFile.open(onboard.vehicle.find(args.vehicle), args.set)
    name = file.read("name", str)
    parts = parts_of(sim_plant.spec.read(file), name, args.stiff)
    rows, lines = compare(parts, args.flow, math.radians(args.bend), args.pieces)
    page = args.page or Path("runs") / f"{name}-bend.html"
    told = {"flow_m_s": args.flow, "bend_deg": args.bend, "pieces": args.pieces, "stiff": args.stiff}
    table = cells(rows)
    bend_page.write(page, f"{name}: soft joints in a cross flow", told, (HEAD, table), lines)
    if args.json:
        say.as_json({"vehicle": name, **told, "balances": rows, "page": str(page)})
    else:
        say.table(table, HEAD)
        say.table([("page", str(page))])
    return 0


def within(option: str, value: float, most: float, unit: str) -> None:
    if not abs(value) <= most:
        raise say.Refused(f"{option} {value:g}: allowed is up to {most:g} {unit} either way")


def compare(
    parts: Sequence[Any], flow_m_s: float, bend_rad: float, pieces: int
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """A row for every shape and model, and the lines of each shape: at rest in still water and by each model."""
    from tools import bend_static

    joints = sum(isinstance(part, bend_static.Joint) for part in parts)
    shapes = {"straight": [0.0] * joints, "last bent": [0.0] * (joints - 1) + [bend_rad]}
    if joints > 1:
        shapes["all bent"] = [bend_rad] * joints
    rows: list[dict[str, Any]] = []
    lines: dict[str, dict[str, Any]] = {}
    progress = say.Progress("balancing", len(shapes) * len(MODELS), "chains")
    for shape, bends_rad in shapes.items():
        still = bend_static.lay(parts, "cc", 1, bends_rad)
        lines[shape] = {"still water": bend_static.Balance(still, still.rest).line_m()}
        for model in MODELS:
            try:
                laid = bend_static.lay(parts, model, pieces, bends_rad)
                balance = bend_static.rest_in_flow(laid, flow_m_s)
            except bend_static.NoBalance as error:
                raise say.Refused(
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
