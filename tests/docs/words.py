"""Parses the words of a command without running it: are there such a command and such options?"""

import argparse
from unittest.mock import patch

from caudal.tools.cli import main as cli
from caudal.tools.common import options

CHOSEN = {"N": "1", "S": "1", "M": "1", "KIND": "sensor", "KEY=A:B:N": "key=1:2:3"}  # what the reader chooses
FILLERS = 3  # maximum number of required arguments


class WrongWords(AssertionError):
    pass


class Missing(WrongWords):
    """Required arguments are missing."""


def read(words: list[str]) -> argparse.Namespace:
    """Parses as the command does; named files need not exist."""
    with (
        patch.object(cli.Parser, "error", _refuse),
        patch.object(options.With, "__call__", lambda *given, **more: None),
    ):
        args, unknown = cli.parser(words[0]).parse_known_args(words)
    if unknown:
        raise WrongWords(f"caudal {' '.join(words)}: there is no {unknown[0]}")
    return args


def read_mention(words: list[str]) -> None:
    """Parses a form of the prose: `caudal report`, `caudal run --stream 9360`, `caudal sweep VEHICLE --for S`."""
    words = [CHOSEN.get(word, word) for word in words]
    for more in range(FILLERS + 1):
        try:
            _read(words, ["fish"] * more)
            return
        except Missing:
            continue
        except WrongWords:
            if more and not any(word.startswith("-") for word in words):
                break  # a command with subcommands, such as `caudal deploy`: only its help can be requested
            raise
    _read(words, ["--help"])


def _read(words: list[str], more: list[str]) -> None:
    with patch.object(argparse.ArgumentParser, "print_help", lambda *given: None):
        try:
            read([*words, *more])
        except SystemExit as ended:  # --help
            assert ended.code == 0, words


def _refuse(parser: argparse.ArgumentParser, message: str) -> None:
    raise (Missing if "are required" in message else WrongWords)(f"{parser.prog}: {message}")
