"""Installs a vehicle's controller on its computer: a Raspberry Pi, or another arm64 or x86-64 Linux with systemd.

`caudal deploy pi user@host VEHICLE` makes a release here (packages, vehicle file, units), sends it over ssh, switches
to it and waits until its loop runs; if it does not, the previous release is restored. `--root DIR` writes to an image
mounted here instead, which tries the release when it boots. Calibration and logs on the vehicle are not changed.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from caudal.onboard.run.ground_station import check_addresses
from caudal.tools.common import options, output
from caudal.tools.common.run_options import station_options
from caudal.tools.deploy.pi_check import read_for_pi
from caudal.tools.deploy.pi_release import Release, Run, make_release
from caudal.tools.deploy.pi_target import Image, Remote

ACTIONS = ("back", "health", "uninstall")


def arguments(command: argparse.ArgumentParser) -> None:
    """Adds the options of `caudal deploy pi`."""
    command.add_argument("host", nargs="?", help="user@host or an ssh alias; leave it out with --root")
    command.add_argument("vehicle", nargs="?", help="a vehicle's name or the path of a vehicle file")
    command.add_argument(
        "--root", metavar="DIR", type=Path, help="write to an image mounted here, instead of ssh"
    )
    command.add_argument("--scenario", metavar="NAME", help="a scenario of the vehicle (default: its first)")
    command.add_argument(
        "--arm-after",
        metavar="S",
        type=options.positive,
        help="arm this long after every start, or as soon as possible after it, without a switch",
    )
    command.add_argument(
        "--mavlink",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="a ground station link, as for caudal run: udp:0.0.0.0:14550, serial:/dev/ttyUSB0@57600; may be repeated",
    )
    command.add_argument(
        "--mavlink-key",
        metavar="FILE",
        help="path of the key on the vehicle, such as /var/lib/caudal/station.key; it is not sent from here",
    )
    options.add_set(command)
    command.add_argument(
        "--wait",
        metavar="S",
        type=options.positive,
        default=60.0,
        help="seconds in which it has to be up (default: 60)",
    )
    command.add_argument(
        "--ssh",
        metavar="COMMAND",
        default="ssh",
        help="the ssh command, such as 'ssh -p 2222' (default: ssh)",
    )
    command.add_argument("--dry-run", action="store_true", help="make the release, but do not install it")
    action = command.add_mutually_exclusive_group()
    action.add_argument("--back", action="store_true", help="switch to the previous release")
    action.add_argument("--health", action="store_true", help="show the state of the controller")
    action.add_argument("--uninstall", action="store_true", help="remove all but calibration and logs")
    command.add_argument(
        "--purge", action="store_true", help="with --uninstall: remove calibration and logs too"
    )
    options.add_json(command)


def run(args: argparse.Namespace) -> int:
    """Deploys, or acts on an installed release; 1 if the controller is not up or not healthy."""
    if args.root and args.host:
        if args.vehicle:
            raise output.UsageError(f"{args.host} and --root {args.root} are two targets; give one")
        args.host, args.vehicle = None, args.host
    if not args.root and not args.host:
        raise output.UsageError(
            "there is no target; give user@host, or --root and the folder of a mounted image"
        )
    target = Image(args.root) if args.root else Remote(args.host, args.ssh)
    action = next((name for name in ACTIONS if getattr(args, name)), None)
    if action:
        return _act(args, target, action)
    if not args.vehicle:
        raise output.UsageError("there is no vehicle; give its name or the path of its file after the target")
    return _deploy(args, target)


def _deploy(args: argparse.Namespace, target: Image | Remote) -> int:
    vehicle, scenario = read_for_pi(args.vehicle, args.set, args.scenario)
    check_addresses(station_options(args))
    for word in (*args.mavlink, args.mavlink_key or ""):
        if word.split() != [word] * bool(word):
            raise output.UsageError(
                f"{word!r} has a space in it, which a service's command line cannot hold; leave it out"
            )
    platform = target.platform()
    platform.check(target.label)
    calibration = target.calibration()
    if calibration:
        _read_calibrated(args, calibration)
    launch = Run(
        vehicle.name,
        vehicle.file.text,
        scenario,
        args.set,
        args.arm_after,
        tuple(args.mavlink),
        args.mavlink_key,
    )
    with tempfile.TemporaryDirectory() as scratch:
        with output.slow_notice(f"making a release for {platform.machine}, Python {platform}"):
            release = make_release(Path(scratch), platform, launch)
        about: dict[str, Any] = {
            "target": target.label,
            "vehicle": vehicle.name,
            "scenario": scenario,
            "machine": platform.machine,
            "python": str(platform),
            "size_bytes": release.size_bytes,
        }
        if args.dry_run:
            return _say(args, release, about | {"done": "dry run", "release": release.name, "notes": []})
        done = target.install(release, args.wait)
        return _say(args, release, about | done)


def _read_calibrated(args: argparse.Namespace, calibration: Path) -> None:
    """Checks the files with the calibration of an image, which overrides all settings, as on the vehicle."""
    read_for_pi(args.vehicle, [*args.set, *options.lines_of(calibration, "the image's")], args.scenario)


def _say(args: argparse.Namespace, release: Release, result: dict[str, Any]) -> int:
    notes = result.pop("notes", [])
    if args.json:
        output.as_json(result | {"packages": release.packages, "notes": notes})
    else:
        output.table(list(release.packages.items()), ("package", "version"))
        rows = {key: _plain(value) for key, value in result.items()}
        rows["size_bytes"] = f"{release.size_bytes} ({release.size_bytes / 1e6:.1f} MB)"
        output.table(list(rows.items()))
        for note in notes:
            output.note(f"note: {note}")
    if result["done"] in ("went back", "not up"):
        why = result.get("why") or "its service is not up"
        output.note(f"{release.name} is not in use: {why}; run 'journalctl -u caudal' there")
        return 1
    return 0


def _act(args: argparse.Namespace, target: Image | Remote, action: str) -> int:
    if args.vehicle:
        raise output.UsageError(f"--{action} takes no vehicle; leave {args.vehicle} out")
    words = [action, *(["--purge"] if args.purge else [])]
    if args.dry_run:
        raise output.UsageError(f"--dry-run does not work with --{action}; leave one out")
    result = target.do(*words)
    if args.json:
        output.as_json(result)
    else:
        output.table([(key, _plain(value)) for key, value in result.items()])
    return 0 if result.get("healthy", True) else 1


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or None
    if isinstance(value, dict):
        return ", ".join(f"{key} {one}" for key, one in value.items()) or None
    return value
