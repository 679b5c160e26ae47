"""A release for a vehicle's computer, made whole on this machine: a folder that needs nothing there but Python.

    bin/caudal      the command, on the packages beside it; bin/caudal-read, the check before the switch
    site/           Caudal (a wheel built here) and what it needs aboard, as wheels of the vehicle's platform and Python
    etc/            vehicle.toml, settings.toml (--set and --with), caudal.env (options of the run)
    system/         deploy/pi/system: units, rules and commands, as they stand below /
    release.json    what it is; sha256sums, that it is whole

So the vehicle needs no network, no pip and no compiler, and an image of another architecture is filled as easily. Its
name ends in a digest of its content: the same content is the same release. Packages stay in build/packages, so that a
deploy at the pool needs no network here either.
"""

import hashlib
import importlib.metadata
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from caudal.tools.common import output
from caudal.tools.common.options import toml_line
from caudal.tools.common.resources import DEPLOY, PACKAGE

ROOT = PACKAGE.resolve().parents[1]  # of the checkout
SYSTEM = DEPLOY / "pi" / "system"
GLIBC = range(17, 37)  # of manylinux tags; 2.36 is Debian 12's
OLDEST_PYTHON = (3, 11)
LAUNCHER = """#!/usr/bin/python3 -sP
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
from {module} import main

sys.exit(main())
"""


@dataclass(frozen=True)
class Platform:
    """The computer that a release is for."""

    machine: str  # as uname says: aarch64
    python: tuple[int, int]

    def check(self, where: str) -> None:
        if self.machine not in ("aarch64", "x86_64"):
            hint = "install the 64-bit Raspberry Pi OS" if self.machine.startswith("arm") else "use aarch64"
            raise output.UsageError(f"{where} is {self.machine}, for which packages have no wheels; {hint}")
        if self.python < OLDEST_PYTHON:
            raise output.UsageError(
                f"{where} has Python {self}, and Caudal needs 3.11; install Debian 12 or newer there"
            )

    def __str__(self) -> str:
        return ".".join(map(str, self.python))

    def pip_options(self) -> list[str]:
        tags = [f"manylinux_2_{minor}_{self.machine}" for minor in reversed(GLIBC)]
        words = ["--implementation", "cp", "--python-version", str(self), "--only-binary=:all:"]
        return words + [
            word for tag in (*tags, f"manylinux2014_{self.machine}") for word in ("--platform", tag)
        ]


@dataclass(frozen=True)
class Run:
    """What the release is to do aboard."""

    vehicle: str  # its name
    vehicle_text: str
    scenario: str
    overrides: list[str]  # KEY=VALUE
    arm_after_s: float | None
    stations: tuple[str, ...] = ()  # addresses
    station_key: str | None = None  # a file aboard

    def options(self) -> str:
        arm = f" --arm-after {self.arm_after_s:g}" if self.arm_after_s else ""
        stations = "".join(f" --mavlink {address}" for address in self.stations)
        key = f" --mavlink-key {self.station_key}" if self.station_key else ""
        return f"--scenario {self.scenario}{arm}{stations}{key}"


@dataclass(frozen=True)
class Release:
    folder: Path
    size_bytes: int
    packages: dict[str, str]  # versions by name

    @property
    def name(self) -> str:
        return self.folder.name


def make_release(scratch: Path, platform: Platform, run: Run) -> Release:
    """A new folder in `scratch`, named after what it holds."""
    if not (ROOT / "pyproject.toml").is_file():
        raise output.UsageError(
            "there is no pyproject.toml above the package; deploy from Caudal's source folder (pip install -e)"
        )
    folder = scratch / "release"
    site = folder / "site"
    packages = _install_packages(site, platform, scratch, bool(run.stations))
    for name, module in (
        ("caudal", "caudal.tools.cli.main"),
        ("caudal-read", "caudal.tools.deploy.pi_check"),
    ):
        _write(folder / "bin" / name, LAUNCHER.format(module=module), mode=0o755)
    _write(folder / "etc" / "vehicle.toml", run.vehicle_text)
    _write(folder / "etc" / "settings.toml", "".join(f"{toml_line(one)}\n" for one in run.overrides))
    _write(folder / "etc" / "caudal.env", f"CAUDAL_OPTIONS={run.options()}\n")
    shutil.copytree(SYSTEM, folder / "system", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    version = packages["caudal"]
    about = {
        "version": version,
        "vehicle": run.vehicle,
        "scenario": run.scenario,
        "machine": platform.machine,
        "python": str(platform),
        "packages": packages,
    }
    _write(folder / "release.json", json.dumps(about, indent=1, sort_keys=True) + "\n")
    _set_modes(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    named = folder.rename(scratch / f"{version}-{seal(folder)[:12]}")
    return Release(named, size, packages)


def _install_packages(site: Path, platform: Platform, scratch: Path, stations: bool) -> dict[str, str]:
    shutil.copytree(packages_for(platform, stations), site)
    shutil.unpack_archive(build_wheel(scratch), site, "zip")
    found = importlib.metadata.distributions(path=[str(site)])
    return dict(sorted((one.metadata["Name"], one.version) for one in found))


def packages_for(platform: Platform, stations: bool = False) -> Path:
    """What Caudal needs aboard, unpacked from wheels; kept until what it needs changes."""
    requirements = read_requirements(stations)
    key = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:8]
    folder = ROOT / "build" / "packages" / f"{platform.machine}-{platform}-{key}"
    if folder.is_dir():
        return folder
    output.note(f"downloading packages for {platform.machine}, Python {platform}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        new = Path(scratch) / "site"
        done = _pip(["install", "--no-compile", "--target", str(new), *platform.pip_options(), *requirements])
        if done.returncode:
            raise output.UsageError(
                f"the vehicle's packages cannot be had as wheels ({_last(done)}); is there a network?"
            )
        shutil.rmtree(new / "bin", ignore_errors=True)  # scripts that name this machine's Python
        try:
            new.rename(folder)
        except OSError:  # another deploy has put the same there meanwhile
            if not folder.is_dir():
                raise
    return folder


def read_requirements(stations: bool) -> list[str]:
    """What a vehicle needs: the base and the chips' drivers, what it talks to ground stations with; no simulation."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [
        *project["dependencies"],
        *project["optional-dependencies"]["pi"],
        *(project["optional-dependencies"]["station"] if stations else ()),
    ]


def build_wheel(scratch: Path) -> Path:
    """Of a copy, because a build leaves its traces, and files deleted since would come along."""
    source, out = scratch / "source", scratch / "dist"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    shutil.copytree(PACKAGE, source / "src" / "caudal", ignore=shutil.ignore_patterns("__pycache__"))
    own_tools = ["--no-build-isolation"] if _has_setuptools() else []
    done = _pip(["wheel", "--no-deps", *own_tools, "--wheel-dir", str(out), str(source)])
    if done.returncode:
        raise output.UsageError(f"Caudal's own wheel cannot be built ({_last(done)})")
    return next(out.glob("caudal-*.whl"))


def _has_setuptools() -> bool:
    try:
        return int(importlib.metadata.version("setuptools").split(".")[0]) >= 77
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False


def _pip(words: list[str]) -> subprocess.CompletedProcess:
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    return subprocess.run([sys.executable, "-m", "pip", *words, *quiet], capture_output=True, text=True)


def _last(done: subprocess.CompletedProcess) -> str:
    said = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    return (errors or said or ["pip says nothing"])[-1].strip()


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def _set_modes(folder: Path) -> None:
    """The service's user reads all and writes nothing, whatever this machine's umask is."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def seal(folder: Path) -> str:
    """Writes the sums by which the vehicle knows a release to be whole; gives the digest of all."""
    (folder / "sha256sums").unlink(missing_ok=True)
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n")
    text = "".join(lines)
    _write(folder / "sha256sums", text)
    return hashlib.sha256(text.encode()).hexdigest()


def scratch_folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="caudal-pi-")
