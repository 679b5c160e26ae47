"""Makes a release for a vehicle's computer: a folder that needs nothing there but Python.

    bin/caudal      the command, with the packages in site/; bin/caudal-read, the check before the switch
    site/           Caudal (a wheel built here) and its dependencies, as wheels for the vehicle's platform and Python
    etc/            vehicle.toml, settings.toml (--set and --with), caudal.env (options of the run)
    system/         deploy/pi/system: units, rules and commands, as under /
    release.json    its description; sha256sums, its checksums

So the vehicle needs no network, no pip and no compiler, and an image may be of another architecture. The release's name
ends in a digest of its content: equal content gives an equal release. Packages are cached in build/packages, so that a
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

    machine: str  # as uname -m prints it: aarch64
    python: tuple[int, int]

    def check(self, where: str) -> None:
        """A UsageError if Caudal cannot run on this platform. `where`: its name in the message."""
        if self.machine not in ("aarch64", "x86_64"):
            hint = "install the 64-bit Raspberry Pi OS" if self.machine.startswith("arm") else "use aarch64"
            raise output.UsageError(
                f"{where} is {self.machine}, for which there are no wheels of the packages; {hint}"
            )
        if self.python < OLDEST_PYTHON:
            raise output.UsageError(
                f"{where} has Python {self}, and Caudal needs 3.11; install Debian 12 or newer there"
            )

    def __str__(self) -> str:
        return ".".join(map(str, self.python))

    def pip_options(self) -> list[str]:
        """Options of pip that select wheels for this platform."""
        tags = [f"manylinux_2_{minor}_{self.machine}" for minor in reversed(GLIBC)]
        words = ["--implementation", "cp", "--python-version", str(self), "--only-binary=:all:"]
        return words + [
            word for tag in (*tags, f"manylinux2014_{self.machine}") for word in ("--platform", tag)
        ]


@dataclass(frozen=True)
class Run:
    """The run that a release starts on the vehicle."""

    vehicle: str  # its name
    vehicle_text: str
    scenario: str
    overrides: list[str]  # KEY=VALUE
    arm_after_s: float | None
    stations: tuple[str, ...] = ()  # addresses
    station_key: str | None = None  # a file on the vehicle

    def options(self) -> str:
        """The options of `caudal run`."""
        arm = f" --arm-after {self.arm_after_s:g}" if self.arm_after_s else ""
        stations = "".join(f" --mavlink {address}" for address in self.stations)
        key = f" --mavlink-key {self.station_key}" if self.station_key else ""
        return f"--scenario {self.scenario}{arm}{stations}{key}"


@dataclass(frozen=True)
class Release:
    """A release that was made here."""

    folder: Path
    size_bytes: int
    packages: dict[str, str]  # versions by name

    @property
    def name(self) -> str:
        """Version and digest of its content."""
        return self.folder.name


def make_release(scratch: Path, platform: Platform, run: Run) -> Release:
    """Makes a release in a new folder in `scratch`, named after its content."""
    if not (ROOT / "pyproject.toml").is_file():
        raise output.UsageError(
            "the source folder of Caudal is not here, only an installed wheel; deploy from a checkout (pip install -e)"
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
    """A folder with Caudal's dependencies on the vehicle, unpacked from wheels; it stays until the list changes."""
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
                f"wheels of the vehicle's packages cannot be downloaded ({_last(done)}); check the network"
            )
        shutil.rmtree(new / "bin", ignore_errors=True)  # scripts that name this machine's Python
        try:
            new.rename(folder)
        except OSError:  # another deploy has made the same folder meanwhile
            if not folder.is_dir():
                raise
    return folder


def read_requirements(stations: bool) -> list[str]:
    """Caudal's dependencies on a vehicle, from pyproject.toml: the base, drivers, and for stations MAVLink."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [
        *project["dependencies"],
        *project["optional-dependencies"]["pi"],
        *(project["optional-dependencies"]["station"] if stations else ()),
    ]


def build_wheel(scratch: Path) -> Path:
    """Builds Caudal's wheel from a copy, because a build writes files, and would include deleted ones."""
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


def _pip(words: list[str]) -> subprocess.CompletedProcess[str]:
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    return subprocess.run([sys.executable, "-m", "pip", *words, *quiet], capture_output=True, text=True)


def _last(done: subprocess.CompletedProcess[str]) -> str:
    said = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    return (errors or said or ["pip printed no message"])[-1].strip()


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def _set_modes(folder: Path) -> None:
    """Makes all files readable and none writable for the service's user, whatever the umask is."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def seal(folder: Path) -> str:
    """Writes the checksums by which the vehicle checks a release; their digest."""
    (folder / "sha256sums").unlink(missing_ok=True)
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n")
    text = "".join(lines)
    _write(folder / "sha256sums", text)
    return hashlib.sha256(text.encode()).hexdigest()
