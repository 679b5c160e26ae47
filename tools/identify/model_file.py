"""Writes an identified model as [control.model], into a vehicle file or a new file."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from caudal.tools.common.output import UsageError
from caudal.tools.identify.rigid_body_model import Matrices
from caudal.tools.identify.standard_errors import Parameter

HEADER = re.compile(r"^\[control\.model\][ \t]*(#.*)?$")
ANY_HEADER = re.compile(r"^\s*\[\[?\s*[A-Za-z_\"']")  # but not a row of numbers


def section(model: Matrices, found: Sequence[Parameter], kept: Sequence[str], sources: Sequence[str]) -> str:
    """The text of the table, with standard errors and the names of the logs."""
    lines = ["[control.model]", f"# Identified from {', '.join(sources)}; value +- one standard error:"]
    lines += [f"#   {one.name} {_number(one.value)} +- {one.error:.2g} {one.unit}" for one in found]
    if kept:
        lines.append(f"# Not shown by these logs, so not changed: {', '.join(kept)}.")
    for key, matrix in (("inertia", model.inertia), ("drag", model.drag)):
        lines += [f"{key} = [", *(f"  [{', '.join(map(_number, row))}]," for row in matrix), "]"]
    lines.append(f"quadratic = [{', '.join(map(_number, model.quadratic))}]")
    lines += [
        f"{key} = {_number(getattr(model, key))}" for key in ("net_weight_n", "righting_n_m", "lead_n_m")
    ]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """A number with six digits, as a float in TOML."""
    text = f"{float(value) + 0.0:.6g}"
    return text if any(c in text for c in ".en") else text + ".0"


def check(path: Path, vehicle: str) -> None:
    """A UsageError if the model cannot be written here. Call it before the work."""
    if path.exists():
        _split(path, _read(path), vehicle)
    elif path.suffix != ".toml":
        raise UsageError(f"{path} is not a .toml file; a model is written as TOML")


def write(path: Path, text: str, vehicle: str) -> None:
    """Replaces the table in an existing file, or writes a new file."""
    try:
        if path.exists():
            old = _read(path)
            before, after = _split(path, old, vehicle)
            new = before + (text.replace("\n", "\r\n") if "\r\n" in old else text) + after
            _check_rest(path, old, new)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            use = f"caudal run {vehicle} --with {path.name} uses it"
            new = f"# Model of {vehicle} by caudal identify; {use}.\n\n{text}"
        path.write_bytes(new.encode())
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; choose another file with --write"
        ) from error


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"{path} exists and is not a vehicle file; choose another file with --write"
        ) from None


def _split(path: Path, text: str, vehicle: str) -> tuple[str, str]:
    """The text before and after the table; comments above the next table belong to that."""
    try:
        tables = tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError:
        raise UsageError(
            f"{path} exists and is not a vehicle file; choose another file with --write"
        ) from None
    if tables.get("name", vehicle) != vehicle:
        raise UsageError(
            f"{path} is a file of {tables['name']}, not of {vehicle}; choose another file with --write"
        )
    lines = text.splitlines(keepends=True)
    starts = [k for k, line in enumerate(lines) if HEADER.match(line.rstrip("\r\n"))]
    if len(starts) != 1:
        raise UsageError(
            f"{path} exists and has no [control.model] to replace; choose another file with --write"
        )
    end = next((k for k in range(starts[0] + 1, len(lines)) if ANY_HEADER.match(lines[k])), len(lines))
    while end > starts[0] + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return "".join(lines[: starts[0]]), "".join(lines[end:])


def _check_rest(path: Path, old: str, new: str) -> None:
    """A UsageError if anything but the table has changed."""
    tables = [tomllib.loads(text.removeprefix("\ufeff")) for text in (old, new)]
    for one in tables:
        one["control"].pop("model")
    if tables[0] != tables[1]:
        raise UsageError(
            f"{path} was not changed: the end of its [control.model] is not clear; replace it by hand"
        )
