"""Writes fitted motors as sections of a vehicle file: [motor.NAME] with maps, [plant.motor.NAME] for the plant."""

import json
import tomllib
from pathlib import Path
from typing import Any

from caudal.tools.common.output import UsageError
from caudal.tools.thrust.fit import Fit


def motor_section(name: str, description: str, use: str, fits: list[Fit]) -> str:
    """The text of [motor.NAME]."""
    lines = [f"[motor.{name}]", f"description = {_value(description)}", f"use = {_value(use)}"]
    lines += ["# errors by caudal thrust, N rms: of the fit, then of the inverse map"]
    for one in fits:
        lines.append(f"#   {_errors(one.errors)}")
    for kind in ("polynomial", "table"):
        for one in fits:
            curve = getattr(one, kind)
            lines += [
                "",
                *_entry(f"motor.{name}.{kind}", {**curve, "rms_n": float(f"{curve['rms_n']:.3g}")}),
            ]
    return "\n".join(lines) + "\n"


def plant_section(name: str, curves: list[dict[str, Any]]) -> str:
    """The text of [plant.motor.NAME]."""
    lines = ["# the bench data, thinned: straight lines between the points"]
    for curve in curves:
        lines += [*_entry(f"plant.motor.{name}.curve", curve), ""]
    return "\n".join(lines[:-1]) + "\n"


def write(path: Path, text: str, name: str, fresh: bool) -> None:
    """Writes a new file, or extends one that has no such motor. `fresh`: overwrite."""
    before = "" if fresh else _existing(path, name)
    if before:
        text = ("\n" if before.endswith("\n") else "\n\n") + text
        _tables(path, before + text, "the motor's section cannot follow at its end")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if before else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; choose another file with --write"
        ) from error


def _existing(path: Path, name: str) -> str:
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"{path} exists and is not a vehicle file; choose another file with --write"
        ) from None
    tables = _tables(path, before, "it is not a vehicle file")
    for motors, key in ((tables, "motor"), (tables.get("plant"), "plant.motor")):
        there = motors.get("motor") if isinstance(motors, dict) else None
        if isinstance(there, dict) and name in there:
            hint = "remove it first, or choose another --name or --write"
            raise UsageError(f"{path} already has a [{key}.{name}] and was not changed; {hint}")
    return before


def _tables(path: Path, text: str, problem: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise UsageError(
            f"{path} was not changed, because {problem} ({error}); choose another --write"
        ) from None


def _errors(errors: dict[str, Any]) -> str:
    polynomial, table = (
        f"{errors[prefix + 'rms_n']:.3g} {errors[prefix + 'inverse_rms_n']:.3g}" for prefix in ("", "table_")
    )
    return (
        f"{errors['volts']:g} V: polynomial {polynomial}, table {table} with {errors['table_points']} points"
    )


def _entry(key: str, values: dict[str, Any]) -> list[str]:
    return [f"[[{key}]]", *(f"{name} = {_value(value)}" for name, value in values.items())]


def _value(value: Any) -> str:
    """A string, number or list of numbers, which JSON and TOML write alike."""
    return json.dumps(value, ensure_ascii=False)
