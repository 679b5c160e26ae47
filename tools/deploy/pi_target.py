"""The target of a release: a vehicle's computer over ssh, or a mounted image. Both run the same caudal-release."""

import gzip
import json
import shlex
import subprocess
import tarfile
import threading
from pathlib import Path
from typing import IO, Any

from caudal.tools.common import output
from caudal.tools.deploy.pi_release import SYSTEM, Platform, Release

PROGRAM = "system/usr/local/sbin/caudal-release"
INSTALLED = "/usr/local/sbin/caudal-release"
MACHINES = {183: "aarch64", 62: "x86_64", 40: "armv7l", 3: "i686"}  # of ELF files
ASK = """
uname -m
python3 -c 'import sys; print(*sys.version_info[:2])' || echo 0 0
systemctl --version >/dev/null 2>&1 && echo systemd || echo none
if [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; then echo root; else echo "$(id -un)"; fi
"""
UNPACK = """
set -e
folder=$(mktemp -d /var/tmp/caudal.XXXXXX)
trap 'rm -rf "$folder"' EXIT
tar -xzf - -C "$folder"
"""
TIMEOUT_S = 900


class Image:
    """A system in a folder: a mounted card, or a userland to be packed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.label = str(root)
        if not (root / "etc").is_dir() or root.resolve() == Path("/"):
            raise output.UsageError(
                f"{root} is not a mounted image; give the folder that holds its etc and usr"
            )

    def platform(self) -> Platform:
        """The image's platform, from its Python's file, which this machine may not be able to run."""
        for path in sorted((self.root / "usr" / "bin").glob("python3.*")):
            version = path.name.removeprefix("python3.")
            if version.isdigit() and path.is_file():
                head = path.read_bytes()[:20]
                machine = MACHINES.get(int.from_bytes(head[18:20], "little"), "unknown")
                return Platform(machine if head[:4] == b"\x7fELF" else "unknown", (3, int(version)))
        raise output.UsageError(f"{self.root} has no usr/bin/python3; install python3 in that image first")

    def calibration(self) -> Path | None:
        """The calibration file in the image, if there is one."""
        path = self.root / "var/lib/caudal/calibration.toml"
        return path if path.is_file() else None

    def install(self, release: Release, wait_s: float) -> dict[str, Any]:
        """Installs a release; it is tried when the image boots."""
        return self._do(release.folder / PROGRAM, "install", str(release.folder))

    def do(self, *words: str) -> dict[str, Any]:
        """Runs caudal-release on the image; its result."""
        return self._do(SYSTEM.parent / PROGRAM, *words)

    def _do(self, program: Path, *words: str) -> dict[str, Any]:
        command = ["sh", str(program), "--root", str(self.root), "--json", *words]
        return _answer(subprocess.run(command, capture_output=True, text=True), self.label)


class Remote:
    """A computer over ssh, which has to log in without a password prompt."""

    def __init__(self, host: str, ssh: str) -> None:
        if host.startswith("-"):
            raise output.UsageError(f"{host} is not a host; give user@host")
        self.label = host
        self._ssh = [*shlex.split(ssh), "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", host]

    def platform(self) -> Platform:
        """The computer's platform; a UsageError if it cannot be deployed to."""
        done = self._run(ASK)
        lines = done.stdout.splitlines()
        if done.returncode or len(lines) < 4:
            said = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise output.UsageError(
                f"{self.label}: ssh cannot log in ({said}); try 'ssh {self.label} true' first"
            )
        machine, python, manager, user = lines[:4]
        major, minor = map(int, python.split())
        if (major, minor) == (0, 0):
            raise output.UsageError(f"{self.label} has no python3; run 'sudo apt-get install python3' there")
        if manager != "systemd":
            raise output.UsageError(
                f"{self.label} does not run systemd, which starts and supervises the controller; install it"
            )
        if user != "root":
            raise output.UsageError(
                f"{self.label}: {user} may not use sudo without a password; allow it, or use root@"
            )
        return Platform(machine, (major, minor))

    def calibration(self) -> None:
        """None: the calibration stays on the vehicle, which checks it there."""

    def install(self, release: Release, wait_s: float) -> dict[str, Any]:
        """Sends and installs a release, and waits up to `wait_s` until it is up."""
        words = ["--json", "install", "--wait", f"{wait_s:g}"]
        output.note(f"sending {release.size_bytes / 1e6:.1f} MB to {self.label}, then waiting until it is up")
        program = f'"$folder/{release.name}/{PROGRAM}"'
        command = f'sh {program} {shlex.join(words)} "$folder/{release.name}"'
        return self._answer(command, UNPACK, release.folder)

    def do(self, *words: str) -> dict[str, Any]:
        """Runs caudal-release on the vehicle; its result."""
        return self._answer(f"{INSTALLED} --json {shlex.join(words)}")

    def _answer(self, command: str, before: str = "", folder: Path | None = None) -> dict[str, Any]:
        sudo = 'sudo=; [ "$(id -u)" = 0 ] || sudo="sudo -n"\n'
        return _answer(self._run(f"{before}{sudo}$sudo {command}", folder), self.label)

    def _run(self, script: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a shell script there; a folder is sent as a tar file to its standard input."""
        command = [*self._ssh, f"sh -c {shlex.quote(script)}"]
        pipe, devnull = subprocess.PIPE, subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                command, stdin=pipe if folder else devnull, stdout=pipe, stderr=pipe, text=False
            )
        except OSError as error:
            raise output.UsageError(
                f"there is no {command[0]} here ({error.strerror}); install openssh-client"
            ) from error
        sender = None
        if folder:
            sender = threading.Thread(target=_send, args=(process.stdin, folder))
            process.stdin = None  # only the sender uses it; communicate() would close it
            sender.start()
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise output.UsageError(
                f"{self.label} does not respond; run 'ssh {self.label} caudal-health'"
            ) from None
        if sender:
            sender.join()
        return subprocess.CompletedProcess(command, process.returncode, out.decode(), err.decode())


def _send(stream: IO[bytes], folder: Path) -> None:
    try:
        packed = gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=3)
        with stream, packed, tarfile.open(fileobj=packed, mode="w|") as archive:
            archive.add(folder, arcname=folder.name)
    except OSError:
        pass  # the remote program has ended, and prints the reason


def _answer(done: subprocess.CompletedProcess[str], label: str) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads(done.stdout)
        return result
    except ValueError:
        ended = f"it ended with exit code {done.returncode}"
        said = (done.stderr.strip() or done.stdout.strip() or ended).splitlines()[-1]
        raise output.UsageError(f"{label}: {said.removeprefix('caudal-release: ')}") from None
