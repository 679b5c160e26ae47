"""The output of `caudal excite`: the trajectory as a table of a vehicle file, and a plot of it."""

from pathlib import Path

import numpy as np

from caudal.tools.common.output import UsageError
from caudal.tools.excite.bezier import Curve, motion, sampler

UNITS = (("x", "m"), ("y", "m"), ("depth", "m"), ("heading", "rad"))


def check_out(out: Path) -> None:
    """A UsageError if the trajectory cannot be written here. Call it before the search."""
    if out.suffix != ".toml":
        raise UsageError(f"--out {out}: the trajectory is written as .toml")
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder; give a file in it")


def as_toml(about: str, segment_s: list[float], control: np.ndarray) -> str:
    """The text of [trajectory.excite], with all digits, so that limits and joins stay exact."""
    lines = [
        "[trajectory.excite]",
        f'description = "{about}"',
        f"segment_s = {[float(s) for s in segment_s]}",
    ]
    lines += ["# x_m, y_m, depth_m, heading_rad of each segment's control points", "points = ["]
    for segment in control:
        lines.append("  [")
        lines += [f"    {[float(value) for value in point]}," for point in segment]
        lines.append("  ],")
    return "\n".join([*lines, "]", ""])


def write(out: Path, text: str, plot: str) -> None:
    """Writes the trajectory, and its plot next to it."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        for path, content in ((out, text), (out.with_suffix(".svg"), plot)):
            part = path.with_name(f"{path.name}.new")  # if killed, an earlier file stays whole
            part.write_text(content)
            part.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}; choose another file with --out") from error


def plot(shape: Curve, control: np.ndarray) -> str:
    """An SVG of pose and velocity over time, with dashed limits of each segment."""
    from caudal.tools.common.pyplot import as_svg, pyplot

    table = shape.table
    ends_s = np.concatenate(([0.0], np.cumsum(table.segment_s)))
    moved = motion(shape, control)
    times_s = np.minimum(np.arange(moved.shape[1]) * table.sample_s, ends_s[-1])
    figure, axes = pyplot().subplots(4, 2, sharex=True, figsize=(11, 9), layout="constrained")
    for d, (name, unit) in enumerate(UNITS):
        for column, (kind, suffix) in enumerate((("pose", ""), ("velocity", "/s"))):
            axis = axes[d][column]
            axis.plot(times_s, moved[column, :, d], lw=1.2)
            for j in range(len(table.segment_s)):
                low, high = table.bounds(kind, j)
                axis.hlines([low[d], high[d]], ends_s[j], ends_s[j + 1], colors="tab:red", ls="--", lw=0.8)
            axis.set_ylabel(f"{name} ({unit}{suffix})")
            axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("time (s)")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + as_svg(figure)


def violation(shape: Curve, control: np.ndarray, step_s: float = 0.01) -> float:
    """The largest violation of a limit at control points and fine samples, in SI units; 0 if there is none."""
    table, worst = shape.table, 0.0
    for j, segment_s in enumerate(table.segment_s):
        fine = sampler(table.order, segment_s, np.linspace(0.0, 1.0, int(segment_s / step_s) + 2))
        velocity = np.diff(control[j], axis=0) * (table.order / segment_s)
        acceleration = np.diff(velocity, axis=0) * ((table.order - 1) / segment_s)
        kinds = zip(
            ("pose", "velocity", "acceleration"), (control[j], velocity, acceleration), fine, strict=True
        )
        for kind, hull, basis in kinds:
            low, high = table.bounds(kind, j)
            for values in (hull, basis @ control[j]):
                worst = max(worst, float((low - values).max()), float((values - high).max()))
    return worst
