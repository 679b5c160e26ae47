"""Installs a release's system files: units, rules, links, and lines of the firmware's config.txt."""

import os
import subprocess
from pathlib import Path

from caudal_releases.computer import Computer, put, replace_link

LINKS = {
    "etc/caudal/vehicle.toml": "../../opt/caudal/current/etc/vehicle.toml",
    "etc/caudal/settings.toml": "../../opt/caudal/current/etc/settings.toml",
    "usr/local/bin/caudal": "../../../opt/caudal/current/bin/caudal",
}
CONFIG_PLACES = ("boot/firmware/config.txt", "boot/config.txt")
CONFIG_BEGIN, CONFIG_END = "# caudal: begin", "# caudal: end"
CONFIG_LINES = ("[all]", "dtparam=i2c_arm=on,i2c_arm_baudrate=400000", "enable_uart=1")


def switch(computer: Computer, name: str) -> None:
    """Makes a release the current one: first its system files, then the link `current`."""
    before = computer.named("current")
    if before and before != name:
        gone = system_files(computer, before) - system_files(computer, name)
        gone |= wants(computer, before).keys() - wants(computer, name).keys()
        for path in gone:
            (computer.root / path).unlink(missing_ok=True)
    for path in sorted(system_files(computer, name)):
        put(computer.releases / name / "system" / path, computer.root / path)
    for link, target in {**LINKS, **wants(computer, name)}.items():
        if not (computer.root / link).is_symlink() or os.readlink(computer.root / link) != target:
            replace_link(computer.root / link, target)
    set_boot_config(computer, CONFIG_LINES)
    computer.sync()
    computer.point("current", name)
    if computer.live:
        settle_system(computer)


def system_files(computer: Computer, name: str) -> set[str]:
    """Paths of a release's system files, relative to the root."""
    tree = computer.releases / name / "system"
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}


def wants(computer: Computer, name: str) -> dict[str, str]:
    """The links that `systemctl enable` would make, also on an image of another machine."""
    links = {}
    for path in system_files(computer, name):
        if path.startswith("etc/systemd/system/"):
            for line in (computer.releases / name / "system" / path).read_text().splitlines():
                if line.startswith("WantedBy="):
                    unit, target = Path(path).name, line.removeprefix("WantedBy=").strip()
                    links[f"etc/systemd/system/{target}.wants/{unit}"] = f"../{unit}"
    return links


def settle_system(computer: Computer) -> None:
    """Applies the system files: users, folders, devices and units, as far as this system has them."""
    rules = computer.root / "etc/udev/rules.d/70-caudal.rules"
    if rules.exists():
        os.utime(rules)  # so that udev reads them again, now that the groups in them exist
    devices = [f"--subsystem-match={name}" for name in ("i2c-dev", "tty", "gpio")]
    for command in (
        ["systemd-sysusers", "/etc/sysusers.d/caudal.conf"],
        ["systemd-tmpfiles", "--create", "/etc/tmpfiles.d/caudal.conf"],
        ["systemctl", "daemon-reload"],
        ["systemctl", "restart", "systemd-modules-load.service"],
        ["udevadm", "control", "--reload"],
        ["udevadm", "trigger", *devices],
        ["udevadm", "settle", "--timeout=10"],
        ["systemctl", "start", "--no-block", "caudal-confirm.timer", "caudal-logs.timer"],
    ):
        try:
            subprocess.run(command, capture_output=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            computer.notes.append(f"{' '.join(command)} failed; reboot the vehicle")


def set_boot_config(computer: Computer, lines: tuple[str, ...]) -> None:
    """Writes our lines once at the end of the firmware's config.txt; without lines, removes them."""
    path = next((computer.root / place for place in CONFIG_PLACES if (computer.root / place).is_file()), None)
    if path is None:
        if lines:
            computer.notes.append(
                "there is no boot/firmware/config.txt, so I2C and the UART are not enabled; on a Raspberry Pi "
                "mount its boot partition there and deploy again"
            )
        return
    old = path.read_text()
    kept, ours = [], False
    for line in old.splitlines():
        ours = ours or line == CONFIG_BEGIN
        if not ours:
            kept.append(line)
        ours = ours and line != CONFIG_END
    new = "\n".join([*kept, *([CONFIG_BEGIN, *lines, CONFIG_END] if lines else [])]) + "\n"
    if new != old:
        scratch = path.with_name("config.caudal")
        scratch.write_text(new)
        os.replace(scratch, path)
        if computer.live:
            computer.notes.append(f"{path} has changed; reboot the vehicle to apply it")
    command_line = path.with_name("cmdline.txt")
    if lines and command_line.is_file() and "console=serial0" in command_line.read_text():
        computer.notes.append(
            f"{command_line} has a console on serial0; remove console=serial0,... if a sensor is on that line"
        )
