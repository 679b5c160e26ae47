"""`make test-arm64`: deploys onto a Raspberry Pi's system in QEMU and checks the service from outside.

    python -m tests.arm64.check TAR [virt] [image] [raspi3b]

Times are those of an emulated processor, ten to thirty times slower than a board's.
"""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from caudal.tools.common import output
from caudal.tools.deploy.pi_release import Platform, Release, Run, make_release, seal
from caudal.tools.deploy.pi_target import Remote
from tests.arm64.image import BUILD, SSH_KEY, Userland
from tests.arm64.machine import Machine, Silent
from tests.conftest import ROOT

RATE_HZ = 50  # half of the vehicle file's, which an emulated processor does not always reach
PROBE = "python3 /root/probe.py"
CALIBRATION = "/var/lib/caudal/calibration.toml"
BROKEN = "def swim_aboard(args):\n    raise SystemExit('broken on purpose')\n"
rows: list[tuple[str, str, str, str]] = []


class Failed(Exception):
    pass


def note(machine: str, what: str, good: bool, measured: str) -> None:
    rows.append((machine, what, "yes" if good else "NO", measured))
    output.note(f"{machine}: {what}: {'yes' if good else 'NO'} ({measured})")


def deploy(*words: str) -> dict:
    command = [sys.executable, "-m", "caudal.tools.cli.main", "deploy", "pi", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise Failed(f"caudal deploy pi {' '.join(words)}: {done.stderr.strip()}") from None


def ask(machine: Machine, *words: object, timeout_s: float = 200) -> dict:
    said = machine.ask(f"{PROBE} {' '.join(map(str, words))}", timeout_s)
    try:
        return json.loads(said.splitlines()[-1])
    except (ValueError, IndexError):
        raise Failed(f"{machine.kind}: the probe says {said!r}") from None


@contextmanager
def booted(kind: str, userland: Userland, name: str) -> Iterator[Machine]:
    shutil.copyfile(Path(__file__).with_name("probe.py"), userland.root / "root/probe.py")
    machine = Machine(kind, userland, BUILD / f"{name}.log")
    try:
        machine.wait_for_shell()
        yield machine
    finally:
        machine.off()
        userland.remove()


def check_up(machine: Machine, timeout_s: float = 300) -> dict:
    state = ask(machine, "up", timeout_s, timeout_s=timeout_s + 60)
    note(
        machine.kind,
        "the service is up after boot",
        state["up"],
        f"{state['at_s']:.0f} s; {ticking(state)}",
    )
    if not state["up"]:
        output.note(machine.ask("journalctl -u caudal -u caudal-boot --no-pager -n 40"))
        raise Failed(f"{machine.kind}: the service is not up")
    return state


def check_virt(tar: Path) -> None:
    """Live: killed, hung, deployed to, and a release that does not stay up."""
    userland = Userland(tar, "virt")
    first = deploy("--root", str(userland.root), "fish", "--scenario", "cruise")
    note("image", "installs for arm64", first["done"] == "installed", f"{first['size_bytes'] / 1e6:.1f} MB")
    with booted("virt", userland, "virt") as machine:
        check_up(machine)
        said = machine.ask(
            "grep -c . /sys/class/watchdog/watchdog0/state && cat /sys/class/watchdog/watchdog0/state"
        )
        note("virt", "systemd feeds the hardware watchdog", said.endswith("\nactive"), said.splitlines()[-1])
        real_time = machine.ask("chrt -p $(systemctl show -p MainPID --value caudal) | head -n 1")
        note(
            "virt", "the loop is SCHED_FIFO", "SCHED_FIFO" in real_time, real_time.rsplit(":", 1)[-1].strip()
        )
        for name, what in (
            ("SIGKILL", "killed, it starts again"),
            ("SIGSTOP", "hung, its watchdog starts it again"),
        ):
            done = ask(machine, "kill", name)
            measured = (
                f"begun after {done.get('begun_s', 0):.1f} s, ticks after {done.get('seconds', 0):.1f} s"
            )
            note("virt", what, done["restarted"], measured)
        machine.ask(f"echo '[pi.pulses]\nclock_hz = 25123456' > {CALIBRATION}")
        check_files(machine)
        check_ssh(machine, first)


def check_files(machine: Machine) -> None:
    """What systemd itself says of the files, and a timer's work in its sandbox."""
    rules = machine.run("udevadm verify /etc/udev/rules.d/70-caudal.rules", 60)
    note("virt", "udev finds nothing wrong with the rules", rules[0] == 0, rules[1].strip().splitlines()[-1])
    tidied = machine.run("systemctl start caudal-logs.service", 120)
    logs = machine.ask("ls /var/log/caudal | grep -c mcap")
    note("virt", "the logs are looked after", tidied[0] == 0 and int(logs) >= 1, f"{logs} logs")


def check_ssh(machine: Machine, first: dict) -> None:
    machine.wait_until("systemctl is-active --quiet ssh", 300)
    ssh = (
        f"ssh -p {machine.ssh_port} -i {SSH_KEY} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    )
    ssh += " -o LogLevel=ERROR"
    place = ["--ssh", ssh, "--wait", "240", "root@127.0.0.1"]
    start = time.monotonic()
    second = deploy(*place, "fish", "--scenario", "pool")
    good = second["done"] == "installed" and second["previous"] == first["release"]
    note(
        "virt", "a second release comes over ssh", good, f"{time.monotonic() - start:.0f} s; {second['done']}"
    )
    kept = "25123456" in machine.ask(f"cat {CALIBRATION}")
    note("virt", "the calibration is unchanged", kept, CALIBRATION)
    health = deploy(*place, "--health")
    note("virt", "caudal-health says it is well", health["healthy"], health["service"])
    check_fallback(machine, first["release"], second["release"])
    start = time.monotonic()
    target = Remote("root@127.0.0.1", ssh)
    with tempfile.TemporaryDirectory() as scratch:
        done = target.install(make_broken(Path(scratch), target.platform()), 120)
    good = done["done"] == "went back" and done["release"] == first["release"]
    note(
        "virt",
        "deployed, a release that does not start is taken back",
        good,
        f"{elapsed(start)}; {done['why']}",
    )
    state = ask(machine, "up", 120)
    note("virt", "the release before swims again", state["up"], ticking(state))
    deploy(*place, "--uninstall")
    left = machine.ask(
        "ls -d /opt/caudal /etc/caudal /etc/systemd/system/caudal* /usr/local/bin/caudal 2>/dev/null"
    )
    kept = machine.run(f"! systemctl is-active --quiet caudal && test -s {CALIBRATION}")[0] == 0
    note(
        "virt",
        "uninstalled, only calibration and logs stay",
        kept and not left,
        left or "nothing else is left",
    )


def check_fallback(machine: Machine, first: str, second: str) -> None:
    """A release whose deploy was cut off, while no person is connected."""
    trial = json.dumps({"release": second, "previous": first, "boots": 0})
    machine.ask(f"echo '{trial}' > /opt/caudal/trial.json")
    broken = BROKEN.replace("\n", "\\n").replace("'", '"')
    machine.ask(f"printf '{broken}' > /opt/caudal/releases/{second}/site/caudal/onboard/run/vehicle_run.py")
    start = time.monotonic()
    machine.ask("systemctl restart --no-block caudal")
    machine.wait_until("[ -e /opt/caudal/went-back.json ]", 400)
    state = ask(machine, "up", 200, timeout_s=300)
    good = state["up"] and machine.ask("readlink /opt/caudal/current") == f"releases/{first}"
    note("virt", "on trial, a release that fails five times is taken back", good, elapsed(start))


def ticking(state: dict) -> str:
    """The service's status, without the devices that no emulated machine has."""
    return state["StatusText"].split(", lost")[0]


def pace(said: dict) -> str:
    return f"{said['ticks_per_s']:.2f} Hz, gaps to {said['longest_gap_s']:.2f} s"


def elapsed(start: float) -> str:
    return f"{time.monotonic() - start:.0f} s"


def make_broken(scratch: Path, platform: Platform) -> Release:
    """Reads its files, but its run ends at once."""
    text = (ROOT / "onboard" / "vehicles" / "fish.toml").read_text()
    release = make_release(scratch, platform, Run("fish", text, "cruise", [], None))
    (release.folder / "site" / "caudal" / "tools" / "vehicle_run" / "vehicle_run.py").write_text(BROKEN)
    seal(release.folder)
    return Release(release.folder.rename(scratch / "0.0.0-broken"), release.size_bytes, release.packages)


def check_image(tar: Path) -> None:
    """A second release on the card whose vehicle file does not read: found at boot."""
    userland = Userland(tar, "image")
    root = str(userland.root)
    first = deploy("--root", root, "fish", "--scenario", "cruise")
    second = deploy("--root", root, "fish", "--scenario", "pool")
    (userland.root / "opt/caudal/releases" / second["release"] / "etc/vehicle.toml").write_text("[gait\n")
    with booted("virt", userland, "image") as machine:
        machine.wait_until("[ -e /opt/caudal/went-back.json ]", 600)
        state = ask(machine, "up", 200, timeout_s=300)
        now = machine.ask("readlink /opt/caudal/current; cut -d ' ' -f 1 /proc/uptime").split()
        good = state["up"] and now[0].endswith(first["release"])
        note(
            "virt",
            "a broken release on an image is taken back at boot",
            good,
            f"up after {state['at_s']:.0f} s",
        )


def check_raspi3b(tar: Path) -> None:
    """A Pi's bus that hangs: the loop does not wait for it."""
    userland = Userland(tar, "raspi3b")
    deploy("--root", str(userland.root), "fish", "--scenario", "cruise", "--set", f"loop.rate_hz={RATE_HZ}")
    with booted("raspi3b", userland, "raspi3b") as machine:
        check_up(machine, 400)
        group = machine.ask("stat -c %G /dev/i2c-1")
        denied = machine.ask("journalctl -u caudal --no-pager | grep -c -i 'permission denied'")
        note("raspi3b", "the controller may use the bus", group == "i2c" and denied == "0", f"group {group}")
        bus = ask(machine, "bus")
        hangs = bus["said"] == "OSError 110" and bus["seconds"] > 0.9
        note("raspi3b", "/dev/i2c-1 hangs", hangs, f"{bus['said']} after {bus['seconds']:.2f} s")
        hung = ask(machine, "rate", 60)
        machine.ask(
            "chmod 000 /dev/i2c-1 && systemctl restart caudal", 120
        )  # refuses at once, and hangs no more
        ask(machine, "up", 100)
        free = ask(machine, "rate", 60)
        good = abs(hung["ticks_per_s"] / RATE_HZ - 1) < 0.01 and hung["longest_gap_s"] < bus["seconds"]
        measured = f"{pace(hung)}; {pace(free)} on a bus that refuses at once"
        note("raspi3b", "the loop ticks on meanwhile", good, measured)


CHECKS = {"virt": check_virt, "image": check_image, "raspi3b": check_raspi3b}


def main(tar: str, *names: str) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # machines end with this
    for name in names or CHECKS:
        try:
            CHECKS[name](Path(tar))
        except (Failed, Silent, output.UsageError) as error:
            note(name, "all of it could be checked", False, str(error))
    output.table(rows, ("machine", "promise", "kept", "measured"))
    return 0 if all(row[2] == "yes" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
