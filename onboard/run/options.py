"""Options of a run, on any target."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen


@dataclass(frozen=True)
class StationOptions:
    """Ground stations: their addresses, the signing key's file, and where x = y = 0 is (degrees)."""

    addresses: list[str] = field(default_factory=list)
    key: Path | None = None
    origin: tuple[float, float] | None = None


@dataclass(frozen=True)
class ViewOptions:
    """The stream to viewers: its address, whether another machine may send commands, and what opens a viewer."""

    address: tuple[str, int] | None = None
    allow_control: bool = False
    open: Callable[[str], "Popen[bytes]"] | None = None


@dataclass(frozen=True)
class RunOptions:
    """The options that all kinds of run have. Without `log` the run chooses a name under runs/."""

    seconds: float | None = None
    seed: int = 0
    realtime: bool = False
    arm_after_s: float | None = None
    log: Path | None = None
    params: Path | None = None
    stations: StationOptions = field(default_factory=StationOptions)
    view: ViewOptions = field(default_factory=ViewOptions)
