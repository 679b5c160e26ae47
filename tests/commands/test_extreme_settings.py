"""Any number of a vehicle file may be set to anything: the file is found sound, or refused in a sentence."""

import tomllib

import pytest

from caudal.tools.cli.main import main
from caudal.tools.config.vehicle import Vehicle
from tests.conftest import ROOT

pytestmark = pytest.mark.long
FISH = tomllib.loads((ROOT / "onboard" / "vehicles" / "fish.toml").read_text())


def numbers(table, path=()):
    """Dotted keys of all numbers. Of lists, and of tables with the same keys, the first stands for the others."""
    entries = table.items() if isinstance(table, dict) else list(enumerate(table))[:1]
    seen = set()
    for key, value in entries:
        at = (*path, str(key))
        if isinstance(value, dict):
            keys = tuple(value)
            if keys not in seen:
                seen.add(keys)
                yield from numbers(value, at)
        elif isinstance(value, list):
            yield from numbers(value, at)
        elif isinstance(value, int | float):
            yield ".".join(at)


KEYS = list(numbers(FISH))
PLANT = (
    "plant",
    "world",
    "pi",
    "appearance",
)  # tables that no loop reads, so that no parameter's range can change with them


@pytest.mark.parametrize("value", ["1e300", "0", "-1", "1e-300"])
def test_an_extreme_number_is_sound_or_refused_in_a_sentence(value, capsys, monkeypatch):
    refused = 0
    for key in KEYS:
        if key.startswith(PLANT):
            monkeypatch.setattr(Vehicle, "try_params", lambda self: None)
        code = main(["check", "fish", "--set", f"{key}={value}"])
        monkeypatch.undo()
        said = capsys.readouterr().err
        assert code in (0, 2), f"{key}={value}"
        refused += code == 2
        if code == 2:
            assert said.count("\n") == 1, said
    assert refused > 10
