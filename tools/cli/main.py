"""The command `caudal`: runs a subcommand, and prints invalid input as one sentence."""

import argparse
import importlib
import os
import signal
import sys
import threading
from typing import NoReturn

from caudal.hal.errors import CaudalError
from caudal.tools.common.output import UsageError

COMMANDS = {  # name: (module in caudal.tools, help)
    "list": ("cli.list_vehicles", "list vehicles and their scenarios"),
    "run": ("cli.run", "run a vehicle's controller: simulated, on hardware, or on a HIL link"),
    "new": ("cli.new", "create a vehicle file from one that comes with Caudal"),
    "check": ("cli.check", "check a vehicle file"),
    "gait": ("cli.gait", "write a gait's look-up table as CSV, and a plot of the wave"),
    "hil": (
        "hil.command",
        "hardware in the loop: simulate the plant for a controller on a serial link",
    ),
    "probe": ("cli.probe", "find devices on the buses, and compare them with a vehicle file"),
    "calibrate": (
        "calibrate.command",
        "measure a servo, a thruster, the PCA9685's oscillator or a leak probe",
    ),
    "deploy": ("deploy.command", "install a vehicle's controller on a Raspberry Pi or a microcontroller"),
    "faults": (
        "campaign.command",
        "inject random faults into many runs, and check invariants",
    ),
    "failsafes": ("cli.failsafes", "show a vehicle's failsafe table: trigger, delay, action, clearing"),
    "params": ("cli.params", "show and store parameters that may be set while a vehicle runs"),
    "replay": ("cli.replay", "run the controller again on a log's inputs: are its outputs identical?"),
    "compare": ("cli.compare", "compare the outputs of two runs"),
    "report": ("report.command", "make a page with plots and a summary of a log"),
    "view": ("view.command", "show a log or a running vehicle in the browser, in 3D"),
    "bench": ("bench.command", "benchmark ticks, the plant, HIL links and optimizers"),
    "export": ("export.command", "export a vehicle's bodies and joints as URDF or MJCF"),
    "thrust": ("thrust.command", "fit a thruster's map to bench data"),
    "bend": (
        "soft_statics.command",
        "compare kinematic models of soft joints that bend in a cross flow",
    ),
    "sweep": ("sweep.command", "run a scenario over a grid of settings, on many cores or machines"),
    "excite": ("excite.command", "find a trajectory from which to identify inertia and drag"),
    "identify": ("identify.command", "identify a vehicle's inertia and drag from logs, with standard errors"),
}


EXTRAS = {  # the distribution's extra that installs a package
    "numba": "sim", "numpy": "sim", "matplotlib": "sim", "scipy": "identify",
    "viser": "view", "imageio_ffmpeg": "view",
    "pymavlink": "station", "smbus2": "pi", "adafruit_pca9685": "pi", "brping": "pi", "gpiod": "pi", "tomlkit": "pi",
}  # fmt: skip


class Parser(argparse.ArgumentParser):
    """A parser that prints one sentence for a wrong argument, instead of the usage."""

    def error(self, message: str) -> NoReturn:
        """Prints the message and exits with 2."""
        sys.stderr.write(f"{self.prog}: {message}; see {self.prog} --help.\n")
        raise SystemExit(2)


def parser(asked: str | None) -> argparse.ArgumentParser:
    """A parser with all commands, of which only `asked` is loaded: most need only a part of the project."""
    top = Parser(prog="caudal", description="Onboard controllers for vehicles that swim.")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module_name, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about)
        if name == asked:
            module = importlib.import_module(f"caudal.tools.{module_name}")
            command.description = module.__doc__
            module.arguments(command)
            command.set_defaults(run=module.run)
    return top


def main(argv: list[str] | None = None) -> int:
    """Runs a command; 0 for success, 1 if the run or check failed, 2 for invalid input."""
    if threading.current_thread() is threading.main_thread():
        # a service manager's stop and a closed terminal act like Ctrl-C: actuators safe, log complete
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                signal.signal(number, signal.default_int_handler)
    try:
        words = sys.argv[1:] if argv is None else argv
        args, unknown = parser(words[0] if words else None).parse_known_args(words)
        if unknown:
            raise UsageError(f"{args.command} has no {unknown[0]}; see caudal {args.command} --help")
        code: int = args.run(args)
        return code
    except CaudalError as error:
        print(f"caudal: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(error.name or "")
        if extra is None:
            raise
        print(f"caudal: this needs {error.name}; pip install 'caudal[{extra}]'", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("caudal: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `caudal list | head` is not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
