"""Renders the README's screenshots, each by `caudal run` and `caudal view`: `make pictures`. Three minutes."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import ROOT

SIZE = "960x600"
LARGEST_BYTES = 150_000
# vehicle: words of its run; words of its view
SHOTS = {
    "fish": (["--scenario", "pool", "--seed", "0", "--for", "20"], ["--at", "16.55"]),
    "snake": (["--scenario", "shells", "--for", "12"], ["--at", "11"]),
    "ray": (["--scenario", "turn", "--for", "12"], ["--at", "11"]),
    "rov": (["--scenario", "excite", "--for", "20"], ["--at", "11"]),
    "hybrid": (["--scenario", "obstacles", "--for", "20"], ["--at", "11"]),
}


def make(folder: Path, shots: dict[str, tuple[list[str], list[str]]] = SHOTS, size: str = SIZE) -> list[Path]:
    made = []
    with tempfile.TemporaryDirectory() as runs:
        for vehicle, (swum, seen) in shots.items():
            log, picture = f"{runs}/{vehicle}.mcap", folder / f"{vehicle}.jpg"
            caudal = [sys.executable, "-m", "caudal.tools.cli.main"]
            subprocess.run(
                [*caudal, "run", vehicle, *swum, "--log", log, "--json"],
                cwd=ROOT,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            subprocess.run(
                [*caudal, "view", log, *seen, "--size", size, "--screenshot", str(picture)],
                cwd=ROOT,
                check=True,
            )
            assert picture.stat().st_size < LARGEST_BYTES, f"{picture} is too large for the repository"
            made.append(picture)
    return made


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
