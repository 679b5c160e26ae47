"""`caudal probe`: finds devices, compares them with the vehicle file, and changes nothing."""

import errno
import json
import subprocess
import sys

import pytest

from caudal.hal.emulated.ads1115 import Ads1115
from caudal.hal.emulated.bno055 import Bno055
from caudal.hal.emulated.chip import Chip
from caudal.hal.emulated.ina219 import Ina219
from caudal.hal.emulated.ms5837 import Ms5837
from caudal.hal.emulated.pca9685 import Pca9685, open_registers, pulses_of
from caudal.hal.emulated.ping_pty import PingPty
from caudal.hal.emulated.smbus import EmulatedSMBus
from caudal.hal.pi.ads1115 import Adc, Input
from caudal.hal.pi.build import Parts
from caudal.hal.pi.bus import I2cBus
from caudal.hal.pi.identify import identify
from caudal.hal.pi.ina219 import Power
from caudal.hal.pi.pca9685 import Pulses
from caudal.hal.pi.slot import Slot
from caudal.onboard import vehicles
from caudal.tools.cli import probe
from caudal.tools.cli.main import main
from caudal.tools.config import pi_vehicle
from tests.conftest import ROOT, on_a_pi
from tests.hal.pi_bench import Bench, Recorded

FISH = ROOT / "onboard" / "vehicles" / "fish.toml"
MAKERS = {"bno055": Bno055, "ms5837": Ms5837, "pca9685": Pca9685, "ads1115": Ads1115, "ina219": Ina219}


@pytest.fixture
def probed(capsys):
    """Runs the command: its JSON object and stderr."""

    def run(*words: object, code: int) -> tuple[dict, str]:
        assert main(["probe", *map(str, words), "--json"]) == code
        out, err = capsys.readouterr()
        return json.loads(out) if out else {}, err

    return run


@pytest.fixture
def emulated(monkeypatch):
    """Lets a test change the emulated parts before they are probed."""

    def change(how) -> None:
        real = pi_vehicle.open_parts

        def opened(on, pi):
            parts = real(on, pi)
            how(parts)
            return parts

        monkeypatch.setattr(probe, "open_parts", opened)

    return change


@pytest.fixture
def computer(monkeypatch, tmp_path):
    """A computer with one bus, /dev/i2c-1: `computer.chips` are on it."""

    class Computer:
        chips: dict[int, Chip] = {}
        opened: list[int] = []

        def smbus(self, parts, number: int) -> EmulatedSMBus:
            self.opened.append(number)
            if number != 1:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory")
            return EmulatedSMBus(self.chips, lambda us: None)

    one = Computer()
    one.chips = {0x40: Pca9685(lambda: 0, 0x40)}
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "i2c-1").touch()
    monkeypatch.setattr(probe, "DEVICES", tmp_path / "dev")
    monkeypatch.setattr(Parts, "smbus", lambda parts, number: one.smbus(parts, number))
    return one


def rows(result: dict) -> dict[str, dict]:
    return {row["where"]: row for row in result["rows"]}


@pytest.mark.parametrize("vehicle", [name for name in vehicles.names() if on_a_pi(name)])
def test_probe_finds_every_expected_device_on_emulated_chips(vehicle, probed):
    result, _ = probed(vehicle, "--on", "emulated", code=0)
    expected = [row for row in result["rows"] if row["expected"]]
    pi = pi_vehicle.open_pi_vehicle(vehicle, []).pi
    named = {name for row in expected for name in row["name"].split(", ")}
    assert result["ok"] and named == {"pi.pulses", *(f"pi.chip.{name}" for name in pi.chip)}
    for row in expected:
        assert row["found"] and row["ok"]
        assert row["chip"].split()[-1] == row["expected"]


def test_probe_prints_a_row_per_address(capsys):
    assert main(["probe", "fish", "--on", "emulated"]) == 0
    out, err = capsys.readouterr()
    line = next(line for line in out.splitlines() if "0x76" in line)
    assert line.split() == ["i2c-1", "0x76", "found", "ms5837", "ms5837", "(pi.chip.gauge)"]
    assert "all expected devices are there" in err


def test_probe_writes_only_register_pointers(probed, emulated):
    buses = []

    def record(parts) -> None:
        for number, bus in parts.buses.items():
            parts.buses[number] = Recorded(bus.chips, lambda us: None)
            buses.append(parts.buses[number])

    emulated(record)
    probed("fish", "--on", "emulated", code=0)
    assert all(len(data) == 1 for bus in buses for _, data in bus.writes)
    commands = {data[0] for bus in buses for address, data in bus.writes if address == 0x76}
    assert commands == set(range(0xA0, 0xAE, 2))  # PROM words: neither a reset nor a conversion


def test_probe_does_not_change_pulses(probed, tmp_path):
    registers = tmp_path / "registers"
    chip = Pca9685(lambda: 0, registers=open_registers(registers))
    for data in ((0x00, 0x20), (0x06, 0, 0, 0x33, 0x01)):  # awake, and 307 steps on channel 0
        chip.write(bytes(data))
    before = registers.read_bytes()
    assert pulses_of(registers)[0] > 0
    probed("fish", "--on", f"emulated:{registers}", code=0)
    assert registers.read_bytes() == before


def test_probe_reports_a_missing_chip(probed, emulated):
    emulated(lambda parts: parts.buses[1].chips.pop(0x28))
    result, _ = probed("fish", "--on", "emulated", code=1)
    row = rows(result)["i2c-1 0x28"]
    assert not row["found"] and not row["ok"] and row["expected"] == "bno055"
    assert [where for where, row in rows(result).items() if not row["ok"]] == ["i2c-1 0x28"]


@pytest.mark.parametrize("address", [0x28, 0x76])
def test_probe_reports_a_chip_with_another_identity(address, probed, emulated, capsys):
    emulated(lambda parts: parts.buses[1].faults.set("identity", address))
    result, _ = probed("fish", "--on", "emulated", code=1)
    row = rows(result)[f"i2c-1 0x{address:02x}"]
    assert row["found"] and row["chip"] is None and not row["ok"]
    main(["probe", "fish", "--on", "emulated"])
    line = next(line for line in capsys.readouterr().out.splitlines() if f"0x{address:02x}" in line)
    assert "unknown" in line and "<-" in line and "check address and wiring" in line


@pytest.mark.parametrize("expected", MAKERS)
@pytest.mark.parametrize(
    ("there", "address"),
    [("bno055", 0x28), ("ms5837", 0x76), ("ads1115", 0x48), ("ina219", 0x41), ("ina219", 0x48)]
    + [("pca9685", address) for address in (0x40, 0x48, 0x76)],
)
def test_identify_never_confuses_two_kinds_of_chips(expected, there, address):
    bench = Bench()
    bench.add(MAKERS[there](bench.clock, address))
    found = identify(bench.bus, address, expected)
    assert found == there if expected == there else found in (there, None)


def test_identify_finds_chips_that_their_drivers_have_set_up():
    bench = Bench()
    chips = (Pca9685(bench.clock, 0x40, 25e6), Ina219(bench.clock, 0x41), Ads1115(bench.clock, 0x48))
    for chip in chips:
        bench.add(chip)
    chips[1].set(bus_mv=14_800, shunt_uv=-31_000)
    chips[2].set(0, 2_000_000)
    pulses = Pulses(bench.bus, 0x40, 50, 25_000_000, list(range(16)))
    pulses.set([1500 + k for k in range(16)])
    power = Power(bench.bus, 0x41, 0.1, Slot(), Slot(), 20_000)
    adc = Adc(bench.bus, 0x48, [Input(0, 4.096, 1000, Slot(), 20_000)])
    bench.use(pulses, power, adc)
    bench.run(200)
    assert not bench.reason
    assert chips[0].pulses_us()[3] == pytest.approx(1503, abs=5)
    for address, kind in ((0x40, "pca9685"), (0x41, "ina219"), (0x48, "ads1115")):
        assert identify(bench.bus, address) == kind
        assert identify(bench.bus, address, kind) == kind


def test_identify_never_writes_to_addresses_without_known_chips():
    class PortExpander(Chip):
        """A byte written to it is its outputs."""

        def write(self, data: bytes) -> None:
            raise AssertionError("its outputs changed")

        def read(self, count: int) -> bytes:
            return b"\xff" * count

        def power_cycle(self) -> None:
            pass

    for address in (0x20, 0x38, 0x50, 0x60, 0x68, 0x70):
        smbus = EmulatedSMBus({address: PortExpander(lambda: 0, address)}, lambda us: None)
        assert identify(I2cBus(lambda smbus=smbus: smbus, "bus"), address) is None


def test_probe_lists_every_bus_without_a_vehicle(probed, computer):
    computer.chips[0x29] = Bno055(lambda: 0, 0x29)
    result, _ = probed(code=0)
    assert {where: row["chip"] for where, row in rows(result).items()} == {
        "i2c-1 0x29": "bno055",
        "i2c-1 0x40": "pca9685",
        "i2c-1 0x70": "pca9685 of 0x40 (all call)",
    }
    assert not any(row["expected"] for row in result["rows"])


def test_probe_says_how_to_enable_a_bus_when_there_is_none(probed, monkeypatch, tmp_path):
    monkeypatch.setattr(probe, "DEVICES", tmp_path)
    for words in ((), ("fish",), ("--bus", "1")):
        _, err = probed(*words, code=2)
        assert "dtparam=i2c_arm=on" in err and "raspi-config" in err and err.count("\n") == 1


def test_probe_checks_serial_lines_and_gpio_of_the_vehicle_file(probed, computer, tmp_path):
    with PingPty() as sonar:
        (tmp_path / "ring").touch()
        files = (
            "--set",
            f"pi.chip.ahead.device={sonar.path}",
            "--set",
            f"pi.chip.ring.device={tmp_path}/ring",
        )
        pins = ("--set", f"pi.chip.pins.device={tmp_path}/ring")  # a file, but not a GPIO chip
        result, _ = probed("fish", *files, *pins, code=1)
        found = rows(result)
        assert found[sonar.path]["ok"] and found[sonar.path]["chip"] == "ping"
        assert not found["/dev/caudal-topside"]["found"]
        pins_row = next(row for row in result["rows"] if row["expected"] == "gpio")
        assert pins_row["found"] and not pins_row["ok"]
        assert found["i2c-1 0x40"]["ok"] and not found["i2c-1 0x28"]["found"]
        sonar.device.wrong_identity = True
        result, _ = probed("fish", *files, code=1)
        assert "not a Ping sonar" in rows(result)[sonar.path]["note"]


def test_probe_reports_a_sonar_that_does_not_respond(probed, emulated):
    emulated(lambda parts: setattr(parts.chips["ahead"], "silent", True))
    result, _ = probed("fish", "--on", "emulated", code=1)
    assert "does not respond" in rows(result)["/dev/caudal-sonar"]["note"]


def test_probe_checks_a_single_bus(probed, computer):
    result, _ = probed("fish", "--bus", 1, code=1)
    assert {row["where"].split()[0] for row in result["rows"]} == {"i2c-1"}
    _, err = probed("fish", "--bus", 7, code=2)
    assert "there is no I2C bus 7; there is 1" in err


def test_probe_reports_chips_of_a_missing_bus(probed, computer):
    result, err = probed("fish", "--set", "pi.chip.imu.bus=3", code=1)
    assert not rows(result)["i2c-3 0x28"]["found"]
    assert "I2C bus 3 is not there" in err


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.EACCES, "group i2c"), (errno.EOPNOTSUPP, "plain messages"), (errno.ENODEV, "adapter")],
)
def test_probe_prints_one_sentence_when_a_bus_cannot_be_opened(number, says, probed, computer, monkeypatch):
    def refuse(parts, bus):
        raise OSError(number, "no")

    monkeypatch.setattr(Parts, "smbus", refuse)
    result, err = probed(code=1)
    assert says in err and not result["ok"]


def test_probe_gives_up_a_hung_bus_after_three_seconds(probed, emulated):
    clocks = []

    def hang(parts) -> None:
        parts.buses[1].faults.set("hang")
        clocks.append(parts.clocks["i2c-1"])

    emulated(hang)
    result, err = probed("fish", "--on", "emulated", code=1)
    assert "hangs" in err and not rows(result)["i2c-1 0x40"]["found"]
    assert clocks[0].us < 4_000_000


@pytest.mark.parametrize(
    "words", [("--on", "emulated"), ("--on", "moon"), ("fish", "--bus", "x"), ("no_such",)]
)
def test_probe_prints_one_sentence_for_bad_arguments(words, capsys):
    try:
        code = main(["probe", *words])
    except SystemExit as ended:
        code = ended.code
    assert code == 2 and capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["probe", "fish", "--on", "emulated"],
        ["calibrate", "clock", "fish", "--on", "emulated", "--measure", "--output", "c"],
    ],
)
def test_probe_and_calibrate_run_without_plant_and_numpy(words, tmp_path):
    program = f"""
import sys
for name in ("numpy", "numba", "caudal.sim_plant", "matplotlib"):
    sys.modules[name] = None
from caudal.tools.cli.main import main
sys.exit(main({words}))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "src")}
    )
    assert done.returncode == 0, done.stderr


def test_missing_package_is_named_with_its_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "caudal.hal.pi.build", None)
    monkeypatch.setitem(sys.modules, "smbus2", None)
    monkeypatch.delitem(sys.modules, "caudal.hal.pi.bus")
    monkeypatch.delitem(sys.modules, "caudal.hal.pi.build")
    assert main(["probe", "fish"]) == 2
    assert "this needs smbus2; pip install 'caudal[pi]'" in capsys.readouterr().err
