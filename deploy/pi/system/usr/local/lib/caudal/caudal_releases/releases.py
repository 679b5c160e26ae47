"""Installs, switches, tries and rolls back releases."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from caudal_releases.computer import SERVICE, Computer, Refused
from caudal_releases.service import SETTLE_S, is_up, wait_until_up
from caudal_releases.system import LINKS, set_boot_config, settle_system, switch, system_files, wants

KEPT = 3  # releases on the disk: the current one, the previous one, and one more
BOOTS = 3  # that a release on trial has to stay up


def install(computer: Computer, folder: Path, wait_s: float) -> dict[str, Any]:
    """Makes a new release the current one, or leaves everything as it was."""
    name, current = folder.resolve().name, computer.named("current")
    copy_release(computer, folder, name)
    problem = read_problem(computer, name)
    if problem:
        if name not in (current, computer.named("previous")):
            shutil.rmtree(computer.releases / name)
        raise Refused(
            f"nothing was changed, because the release cannot read its files on the vehicle: {problem}"
        )
    computer.write("went-back.json", None)
    if name == current:
        switch(computer, name)  # system files that were edited are restored
        if computer.live and not is_up(computer, 0):
            computer.systemctl("restart", "--no-block", SERVICE)
        return report(computer, "unchanged")
    before = current
    if computer.read("trial.json").get("release") == current and computer.named("previous"):
        before = computer.named("previous")  # no rollback to a release that has not stayed up
    computer.write("trial.json", {"release": name, "boots": 0})
    computer.point("previous", before)
    switch(computer, name)
    if not computer.live:
        prune(computer)
        return report(computer, "installed")
    computer.systemctl("reset-failed", SERVICE)
    computer.systemctl("restart", "--no-block", SERVICE)
    if wait_until_up(computer, name, wait_s):
        computer.write("trial.json", None)
        prune(computer)
        return report(computer, "installed")
    if before is None:
        return report(computer, "not up")
    if computer.named("current") == name:  # otherwise caudal-fallback was faster
        go_back(computer, f"it was not up within {wait_s:.0f} s")
        computer.systemctl("reset-failed", SERVICE)
        computer.systemctl("restart", "--no-block", SERVICE)
    wait_until_up(computer, before, wait_s)
    return report(computer, "went back")


def copy_release(computer: Computer, folder: Path, name: str) -> None:
    """Copies a release to the releases, whole or not at all; a damaged one of its name is replaced."""
    target = computer.releases / name
    if is_whole(target):
        return
    need = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    computer.releases.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(computer.releases).free
    if free < 3 * need:  # itself, its bytecode, and room for logs
        raise Refused(
            f"{computer.releases} has {free / 1e6:.0f} MB free, a release needs {3 * need / 1e6:.0f}; free some"
        )
    new, old = computer.releases / f".{name}", computer.releases / f".{name}.old"
    for path in (new, old):
        shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(folder, new, symlinks=True)
    if not is_whole(new):
        shutil.rmtree(new)
        raise Refused(f"{name} is incomplete or damaged; deploy again")
    if os.geteuid() == 0:
        for path in [new, *new.rglob("*")]:
            os.chown(path, 0, 0, follow_symlinks=False)
    computer.sync()
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def is_whole(release: Path) -> bool:
    """Whether every file has the checksum it was made with."""
    try:
        lines = (release / "sha256sums").read_text().splitlines()
        return all(
            hashlib.sha256((release / line[66:]).read_bytes()).hexdigest() == line[:64] for line in lines
        )
    except OSError:
        return False


def read_problem(computer: Computer, name: str) -> str | None:
    """Why a release cannot read its vehicle file with this vehicle's calibration; None if it can.

    Runs as root, so that its imports write their bytecode, which the service may not do. An image of another machine
    is checked by the deploying computer, and when it boots.
    """
    if computer.root.resolve() != Path("/"):
        return None
    release = computer.releases / name
    command = [sys.executable, "-sP", str(release / "bin/caudal-read"), str(release / "etc/vehicle.toml")]
    for file in (release / "etc/settings.toml", Path("/var/lib/caudal/calibration.toml")):
        command += ["--with", str(file)] if file.exists() else []
    try:
        command += ["--scenario", json.loads((release / "release.json").read_text())["scenario"]]
    except (OSError, ValueError, KeyError) as error:
        return f"its release.json is damaged ({error})"
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]


def go_back(computer: Computer, why: str) -> bool:
    """Rolls back to the previous release; False if there is none."""
    bad, good = computer.named("current"), computer.named("previous")
    if good is None or good == bad:
        return False
    computer.write("went-back.json", {"from": bad, "to": good, "why": why})
    switch(computer, good)
    computer.point("previous", None)  # no rollback to a release that did not stay up
    computer.write("trial.json", None)
    return True


def back(computer: Computer) -> dict[str, Any]:
    """Rolls back to the previous release, at the user's request."""
    if not go_back(computer, "requested"):
        raise Refused("there is no release before the current one")
    if computer.live:
        computer.systemctl("reset-failed", SERVICE)
        computer.systemctl("restart", "--no-block", SERVICE)
    return report(computer, "went back")


def fallback(computer: Computer) -> dict[str, Any]:
    """After the service has failed: rolls a release on trial back, and starts any other again."""
    on_trial = computer.read("trial.json").get("release") == computer.named("current")
    done = "went back" if on_trial and go_back(computer, "it did not stay up") else "started again"
    computer.systemctl("reset-failed", SERVICE)
    computer.systemctl("start", "--no-block", SERVICE)
    return report(computer, done)


def boot(computer: Computer) -> dict[str, Any]:
    """Counts the boots of a release on trial; on the first boot of an image, makes its user and checks its files."""
    trial, current = computer.read("trial.json"), computer.named("current")
    if trial.get("release") != current or current is None:
        computer.write("trial.json", None)
        return report(computer, "no trial")
    trial["boots"] = trial.get("boots", 0) + 1
    computer.write("trial.json", trial)
    computer.sync()
    if trial["boots"] > BOOTS and go_back(computer, f"it was not up after {BOOTS} boots"):
        return report(computer, "went back")
    if computer.live:
        settle_system(computer)  # systemd-sysusers does not run at every boot
    problem = read_problem(computer, current)
    if problem and go_back(computer, f"it cannot read its files: {problem}"):
        return report(computer, "went back")
    return report(computer, f"boot {trial['boots']} of {BOOTS}")


def confirm(computer: Computer) -> dict[str, Any]:
    """Ends the trial of a release that has stayed up."""
    if not is_up(computer, SETTLE_S):
        return report(computer, "on trial")
    computer.write("trial.json", None)
    prune(computer)
    return report(computer, "confirmed")


def prune(computer: Computer) -> None:
    """Removes old releases; the current and the previous one always stay."""
    held = {computer.named("current"), computer.named("previous")}
    others = [path for path in computer.releases.iterdir() if path.name not in held]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[max(0, KEPT - len(held - {None})) :]:
        shutil.rmtree(path, ignore_errors=True)


def uninstall(computer: Computer, purge: bool) -> dict[str, Any]:
    """Removes all that a deploy installed except the user `caudal`; with `purge`, calibration and logs too."""
    name = computer.named("current")
    if computer.live:
        timers = ("caudal-confirm.timer", "caudal-logs.timer")
        computer.systemctl("stop", *timers, SERVICE)
    paths = {*LINKS}
    for release in computer.releases.iterdir() if computer.releases.is_dir() else ():
        paths |= system_files(computer, release.name) | {*wants(computer, release.name)}
    for path in paths:
        (computer.root / path).unlink(missing_ok=True)
    set_boot_config(computer, ())
    for folder in ("opt/caudal", "etc/caudal", *(("var/lib/caudal", "var/log/caudal") if purge else ())):
        shutil.rmtree(computer.root / folder, ignore_errors=True)
    if computer.live:
        computer.systemctl("daemon-reload")
    return {
        "done": "uninstalled",
        "release": name,
        "kept": [] if purge else ["/var/lib/caudal", "/var/log/caudal"],
    }


def report(computer: Computer, done: str) -> dict[str, Any]:
    """The result of an action, and the releases there are."""
    back = computer.read("went-back.json")
    return {
        "done": done,
        "release": computer.named("current"),
        "previous": computer.named("previous"),
        "on_trial": bool(computer.read("trial.json")),
        "why": back.get("why"),
        "releases": sorted(p.name for p in computer.releases.iterdir()) if computer.releases.is_dir() else [],
        "notes": computer.notes,
    }
