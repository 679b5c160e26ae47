"""Which commands of the documents the tests shorten, and which they cannot run.

A run without a duration (--for) gets FOR_S of its heading, so that it takes seconds. Words in SHORTER are appended to a
command that begins so; the last of two equal options counts. Commands in PARSED are not run, for the reason given: the
command's own parser reads them, so that an unknown option is found. All other commands run unchanged.
"""

FOR_S = {
    "Soft joints: a swimming arm": 2,
    "A micro:bit in QEMU": 2,
    "On a Raspberry Pi": 11,  # a second longer than the last of its faults
    "When things go wrong": 12,
    "Thrusters: from a tank to an identified model": 22,  # `caudal identify` takes no less than 20
}
USUAL_FOR_S = 4

SHORTER = {
    "caudal view runs/fish-pool-0.mcap --at 12 --screenshot": ("--size", "320x180"),
    "caudal view runs/fish-pool-0.mcap --video": ("--for", "0.4", "--fps", "5", "--size", "320x180"),
    "caudal faults rov": ("--runs", "4"),
    "caudal calibrate clock": ("--on", "emulated", "--measure"),  # the emulated chip is the oscilloscope
    "python tests/link/noise.py": ("2000",),
    "python tests/station/mutations.py": ("500",),
    "python tests/params/kills.py": ("2",),
}

NO_BOARD = "needs a microcontroller on a serial line"
NO_VEHICLE = "needs a vehicle's systemd"
PARSED = {
    "caudal probe": "reads this computer's own I2C buses",
    "caudal deploy mcu /dev/": NO_BOARD,
    "caudal deploy pi pi@vehicle --health": NO_VEHICLE,
    "deploy/README.md: caudal deploy pi pi@vehicle fish": "README.md runs the same",
    "caudal bench wire": "takes more than a minute",
    "make test": "runs this test",
    "make setup": "installs the environment of the tests",
    "make format": "writes into the project",
    "make bench": "takes minutes; its commands are parsed",
    "make coverage": "takes minutes; its commands are parsed",
    "make fuzz": "installs, and takes 20 minutes",
    "python tests/view/lateness.py": "takes 80 s, and measures time",
    "python -m tests.view.long_log": "takes minutes, and measures time",
    "python tests/swim/six_hours.py": "takes an hour; tests/swim has its last check",
    "python tests/hil/cuts.py": "takes 8 minutes; tests/hil has a dozen cuts",
}


def why_not_here(words: list[str], document: str) -> str | None:
    command = " ".join(words)
    names = (command, f"{document}: {command}")
    return next(
        (reason for begin, reason in PARSED.items() if any(name.startswith(begin) for name in names)), None
    )


def shortened(words: list[str], heading: str, takes_time: bool) -> list[str]:
    """The command with additional words; `takes_time`: it has an option --for, which was not given."""
    command = " ".join(words)
    more = next((more for begin, more in SHORTER.items() if command.startswith(begin)), ())
    seconds = ("--for", str(FOR_S.get(heading, USUAL_FOR_S))) if takes_time else ()
    return [*words, *seconds, *more]
