"""The commands `caudal-release` and `caudal-health`."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from caudal_releases import __doc__ as about
from caudal_releases import releases
from caudal_releases.computer import Computer, Refused
from caudal_releases.logs import tidy
from caudal_releases.service import health


def main() -> int:
    """Runs a command; 1 if the controller is not healthy or not up, 2 for an error."""
    top = argparse.ArgumentParser(
        prog="caudal-release", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--root", metavar="DIR", default="/", help="an image mounted here, not this computer")
    top.add_argument("--json", action="store_true", help="one JSON object on stdout, for machines")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    install = commands.add_parser("install", help="copy a release and make it the current one")
    install.add_argument("folder", type=Path, help="the release")
    install.add_argument(
        "--wait", metavar="S", type=float, default=60, help="seconds it may take to be up (default: 60)"
    )
    commands.add_parser("health", help="state of the controller; exit code 0 if it is healthy")
    commands.add_parser("back", help="switch to the previous release")
    commands.add_parser("boot", help="for caudal-boot.service")
    commands.add_parser("fallback", help="for caudal-fallback.service")
    commands.add_parser("confirm", help="for caudal-confirm.service")
    logs = commands.add_parser("tidy", help="remove the oldest logs")
    logs.add_argument("--keep-mb", type=float, required=True, help="most space that all logs may take")
    logs.add_argument("--free-mb", type=float, required=True, help="least free space on the disk")
    uninstall = commands.add_parser("uninstall", help="remove all but calibration and logs")
    uninstall.add_argument("--purge", action="store_true", help="remove calibration and logs too")
    args = top.parse_args()
    computer = Computer(args.root)
    try:
        result = run(args, computer)
    except (Refused, OSError) as error:
        root = isinstance(error, PermissionError) and os.geteuid() != 0
        print(f"caudal-release: {error}{'; run it as root' if root else ''}", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(result))
    else:
        show(result)
    return 0 if result.get("healthy", True) and result.get("done") not in ("not up", "failed") else 1


def run(args: argparse.Namespace, computer: Computer) -> dict[str, Any]:
    """Runs a command and returns its result."""
    if args.command == "install":
        return releases.install(computer, args.folder, args.wait)
    if args.command == "tidy":
        return tidy(computer, args.keep_mb, args.free_mb)
    if args.command == "uninstall":
        return releases.uninstall(computer, args.purge)
    if args.command == "health":
        return health(computer)
    simple = {
        "back": releases.back,
        "boot": releases.boot,
        "fallback": releases.fallback,
        "confirm": releases.confirm,
    }
    return simple[args.command](computer)


def show(result: dict[str, Any]) -> None:
    """Prints a result as a table."""
    width = max(map(len, result))
    for key, value in result.items():
        if isinstance(value, float):
            value = f"{value:.1f}"
        elif isinstance(value, list | dict):
            value = ", ".join(str(one) for one in (value.values() if isinstance(value, dict) else value))
        print(f"  {key.ljust(width)}  {'-' if value is None or value == '' else value}")


sys.exit(main())
