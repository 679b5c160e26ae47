"""`caudal`: finds the command, runs it, and turns bad input into one sentence."""

import argparse
import importlib
import os
import signal
import sys
import threading

from caudal.hal.vehicle_file.reader import VehicleFileError
from caudal.onboard.log.reader import LogError
from caudal.tools.common.output import UsageError

COMMANDS = {  # word: (module below caudal.tools, help)
    "list": ("cli.list_vehicles", "vehicles and their scenarios"),
    "run": ("cli.run", "swim a vehicle"),
    "new": ("cli.new", "a vehicle file of your own, started from one that swims"),
    "check": ("cli.check", "is this vehicle file sound"),
    "gait": ("cli.gait", "look-up table of a gait as CSV, plot of the wave"),
    "hil": (
        "hil.command",
        "hardware in the loop: the plant at one end of a wire, the controller at the other",
    ),
    "probe": ("cli.probe", "what answers on the buses, and is it what the vehicle file expects"),
    "calibrate": (
        "calibrate.command",
        "a servo, the pulses' clock, a thruster, a leak probe: measure and write down",
    ),
    "deploy": ("deploy.command", "a vehicle's controller onto a Raspberry Pi or a microcontroller"),
    "faults": (
        "campaign.command",
        "let everything go wrong at random instants: what must hold, whatever does?",
    ),
    "failsafes": ("cli.failsafes", "a vehicle's failsafe table: cause, delay, action, how it clears"),
    "params": ("cli.params", "what may be set while a vehicle runs, and what a file keeps of it"),
    "replay": ("cli.replay", "the controller again on recorded input: bit-identical?"),
    "compare": ("cli.compare", "two runs, command by command"),
    "report": ("report.command", "plots and a summary of a log, in one page"),
    "view": ("view.command", "a run in the browser, in three dimensions: a log, or one that still goes on"),
    "bench": ("bench.command", "what a tick costs, how fast it simulates"),
    "export": ("export.command", "a vehicle's bodies and joints as URDF or MJCF"),
    "thrust": ("thrust.command", "a thruster's map from its bench data"),
    "bend": (
        "soft_statics.command",
        "soft joints in a cross flow: how far each kinematic model lets the end give way",
    ),
    "sweep": ("sweep.command", "a scenario over a grid of settings, on many cores or machines"),
    "excite": ("excite.command", "the trajectory that shows a vehicle's inertia and drag best"),
    "identify": ("identify.command", "a vehicle's inertia and drag from its logs, with error bars"),
}


EXTRAS = {  # which of the distribution's extras brings a package
    "numba": "sim", "numpy": "sim", "matplotlib": "sim", "scipy": "identify",
    "viser": "view", "imageio_ffmpeg": "view",
    "pymavlink": "station", "smbus2": "pi", "adafruit_pca9685": "pi", "brping": "pi", "gpiod": "pi", "tomlkit": "pi",
}  # fmt: skip


class Parser(argparse.ArgumentParser):
    """One sentence for a wrong argument, not a page of usage."""

    def error(self, message: str):
        sys.stderr.write(f"{self.prog}: {message}; see {self.prog} --help.\n")
        raise SystemExit(2)


def parser(asked: str | None) -> argparse.ArgumentParser:
    """All commands by name, but only the one asked for is loaded: most need a part of the project alone."""
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
    if threading.current_thread() is threading.main_thread():
        # a service manager's stop and a lost terminal end a run as Ctrl-C does: actuators safe, log complete
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                signal.signal(number, signal.default_int_handler)
    try:
        words = sys.argv[1:] if argv is None else argv
        args, unknown = parser(words[0] if words else None).parse_known_args(words)
        if unknown:
            raise UsageError(f"{args.command} has no {unknown[0]}; see caudal {args.command} --help")
        return args.run(args)
    except (VehicleFileError, LogError, UsageError) as error:
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
    except BrokenPipeError:  # `caudal list | head` is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
