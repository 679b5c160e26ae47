"""`caudal thrust`: from bench data to a map that gives the forces of its set-points; error messages."""

import json
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caudal.hal.core.fixed_point import to_q14
from caudal.hal.core.maps import ThrusterMap
from caudal.hal.tables import channels as hal_spec
from caudal.hal.tables.types import tag_of
from caudal.hal.vehicle_file.reader import VehicleFile
from caudal.tools.cli.main import main
from caudal.tools.thrust import bench_data, plant_curves
from caudal.tools.thrust import fit as thrust_fit
from caudal.tools.thrust.fit import curve_of
from tests.conftest import EEL

VOLTS = (12.0, 16.0)
DEAD_US = (-36, 28)  # from neutral
NOISE_N = 0.05
PULSES_US = np.arange(1100, 1901, 4)


def truth_n(volts: float, pulses_us) -> np.ndarray:
    """An artificial motor: a polynomial from each edge of its dead-band, in proportion to the voltage."""
    away_us = np.asarray(pulses_us, float) - 1500
    ahead, astern = np.maximum(away_us - DEAD_US[1], 0) / 100, np.maximum(DEAD_US[0] - away_us, 0) / 100
    return (
        volts
        / 16
        * (4 * ahead + 3 * ahead**2 - 0.2 * ahead**3 - 3 * astern - 2.5 * astern**2 + 0.1 * astern**3)
    )


def bench_csv(noise_n: float = NOISE_N, seed: int = 1, volts=VOLTS, measured=truth_n) -> str:
    random = np.random.default_rng(seed)
    lines = ["# artificial bench data", "voltage_V,pwm_us,rpm,current_A,force_n"]
    for v in volts:
        forces_n = measured(v, PULSES_US)
        noisy_n = forces_n + noise_n * random.standard_normal(len(PULSES_US)) * (forces_n != 0)
        for pulse_us, force_n in zip(PULSES_US, noisy_n, strict=True):
            lines.append(f"{v},{pulse_us},0,{abs(force_n) * 0.4:.3f},{force_n:.5f}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def thrust(tmp_path, monkeypatch, capsys):
    """Runs the command on a CSV's text in a new folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(text: str | bytes | None, *words: str) -> tuple[int, str, str]:
        if text is not None:
            (tmp_path / "bench.csv").write_bytes(text.encode() if isinstance(text, str) else text)
        code = main(["thrust", "bench.csv", *words])
        return code, *capsys.readouterr()

    return run


def fits(text: str, tmp_path) -> list[thrust_fit.Fit]:
    path = tmp_path / "bench.csv"
    path.write_text(text)
    return [thrust_fit.fit(bench) for bench in bench_data.read(path, 1500)]


def test_fit_finds_the_motor_in_noisy_measurements(tmp_path):
    for one in fits(bench_csv(), tmp_path):
        for kind in ("polynomial", "table"):
            curve = curve_of(kind, getattr(one, kind))
            tolerance_n = [curve.force_n(int(us)) for us in PULSES_US] - truth_n(one.bench.volts, PULSES_US)
            assert np.sqrt(np.mean(tolerance_n**2)) < NOISE_N, kind
        # one step of the bench, since nothing was measured in between
        assert one.polynomial["dead_low_us"] == pytest.approx(1500 + DEAD_US[0], abs=4)
        assert one.polynomial["dead_high_us"] == pytest.approx(1500 + DEAD_US[1], abs=4)
        assert one.errors["rms_n"] == pytest.approx(NOISE_N, rel=0.2)


def test_fit_finds_the_exact_polynomial_without_noise(tmp_path):
    one = fits(bench_csv(0.0), tmp_path)[1]  # at 16 V, where the artificial coefficients hold
    assert (one.polynomial["dead_low_us"], one.polynomial["dead_high_us"]) == (1464, 1528)
    assert one.polynomial["forward"] == pytest.approx([4, 3, -0.2, 0, 0], abs=1e-3)
    assert one.polynomial["reverse"] == pytest.approx([3, 2.5, -0.1, 0, 0], abs=1e-3)


def rough_n(volts: float, pulses_us) -> np.ndarray:
    """The same motor with a step at both edges and a kink, which no polynomial follows."""
    smooth_n = truth_n(volts, pulses_us)
    away_us = np.asarray(pulses_us) - 1500
    return smooth_n + np.sign(smooth_n) * 0.4 + np.where(away_us > 200, 0.02 * (away_us - 200), 0)


def test_table_has_a_third_of_the_polynomial_error_on_a_motor_with_kinks(tmp_path):
    for one in fits(bench_csv(0.01, measured=rough_n), tmp_path):
        assert one.errors["table_rms_n"] < one.errors["rms_n"] / 3
        # no third here: whole microseconds cost both inverse maps the same
        assert one.errors["table_inverse_rms_n"] < one.errors["inverse_rms_n"]
        assert len(one.table["pulses_us"]) <= thrust_fit.MOST_POINTS


def test_table_stays_short_when_more_points_would_fit_noise(tmp_path):
    for one in fits(bench_csv(0.3), tmp_path):
        assert one.errors["table_points"] < 24


@st.composite
def motors(draw):
    """Any monotone motor: any dead-band, with or without a step at its edge, with a straight, bent or wavy rise."""
    dead_us = draw(st.tuples(st.integers(2, 90), st.integers(2, 90)))
    jump, bend, wave = (draw(st.floats(0, top)) for top in (0.1, 3, 0.9))
    greatest_n = draw(st.sampled_from([0.2, 5.0, 60.0]))
    noise = draw(st.floats(0, 0.01))
    step_us = draw(st.sampled_from([3, 4.5, 10]))

    def force_n(pulses_us):
        away_us = np.asarray(pulses_us) - 1500
        edge_us = np.where(away_us > 0, *dead_us)
        share = np.maximum(np.abs(away_us) - edge_us, 0) / (400 - edge_us)
        rise = share + bend * share**2 + wave * np.sin(12 * share) / 12
        return np.sign(away_us) * greatest_n * np.where(share > 0, jump + rise, 0) / (1 + bend)

    pulses_us = np.arange(1100, 1900.1, step_us)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    return pulses_us, force_n(pulses_us) + noise * greatest_n * random.standard_normal(len(pulses_us))


@given(motors())
@settings(max_examples=25)
def test_maps_of_any_motor_are_monotone_and_valid_in_a_vehicle_file(motor):
    pulses_us, forces_n = motor
    bench = bench_data.Bench(16.0, pulses_us, forces_n, np.abs(forces_n), 1500)
    one = thrust_fit.fit(bench)
    low_us, high_us = int(np.ceil(pulses_us[0])), int(pulses_us[-1])
    tables = {
        "motor": {"m": {"use": "table", "table": [one.table], "polynomial": [one.polynomial]}},
        "actuator": {
            "jet": {
                "map": "thruster", "port": 0, "low_us": low_us, "high_us": high_us, "nominal_v": 16.0, "motor": "m",
                "min_n": -1.0, "max_n": 1.0, "slew_n_s": 1.0,
            }
        },
    }  # fmt: skip
    hal_spec.read(
        VehicleFile("artificial", "", [], tables)
    )  # rejects a map that falls or has thrust at neutral
    assert len(one.table["pulses_us"]) <= thrust_fit.MOST_POINTS
    assert one.errors["table_rms_n"] < 0.06 * np.abs(forces_n).max()
    curve = plant_curves.curve(bench)
    assert np.all(np.diff(curve["forces_n"]) >= 0) and min(curve["currents_a"]) >= 0
    tolerance_n = np.interp(pulses_us, curve["pulses_us"], curve["forces_n"]) - bench.rising_n
    assert np.abs(tolerance_n).max() <= 0.0021 * np.abs(bench.rising_n).max()


def test_written_motor_gives_the_measured_force_at_each_set_point(thrust, tmp_path):
    code, out, _ = thrust(bench_csv(), "--write", "motor.toml", "--json")
    assert code == 0
    result = json.loads(out)
    assert [row["volts"] for row in result["voltages"]] == list(VOLTS)
    motor = tomllib.loads((tmp_path / "motor.toml").read_text())["motor"]["bench"]
    bench = {
        v: np.array([r.split(",") for r in bench_csv().splitlines()[2:] if r.startswith(f"{v},")], float)
        for v in VOLTS
    }
    for kind in ("table", "polynomial"):
        curves = [curve_of(kind, curve) for curve in motor[kind]]
        for volts, row in zip(VOLTS, result["voltages"], strict=True):
            one = ThrusterMap(1500, 1100, 1900, curves, volts)
            measured_n = bench[volts][:, 4]
            asked_n = np.linspace(measured_n.min(), measured_n.max(), 301)
            given_n = np.interp([one.to_device(to_q14(n)) for n in asked_n], PULSES_US, measured_n)
            error_n = np.sqrt(np.mean((asked_n - given_n) ** 2))
            assert error_n < 2 * NOISE_N
            said_n = row["inverse_rms_n" if kind == "polynomial" else "table_inverse_rms_n"]
            assert said_n == pytest.approx(error_n, rel=0.15)  # another grid of forces


def test_motor_is_appended_to_a_vehicle_file_and_replaces_nothing(thrust, tmp_path):
    mine = tmp_path / "mine.toml"
    before = EEL.read_text().replace('motor = "pump"', 'motor = "jet_2"')
    mine.write_text(before)
    words = (
        "--write",
        "mine.toml",
        "--name",
        "jet_2",
        "--use",
        "polynomial",
        "--description",
        'a "quoted" source',
    )
    assert thrust(bench_csv(), *words)[0] == 0
    after = mine.read_text()
    assert after.startswith(before)
    channels = hal_spec.read(VehicleFile.open(mine))
    assert [tag_of(curve) for curve in channels.actuators[0].curve] == ["polynomial"] * 2
    assert tomllib.loads(after)["motor"]["jet_2"]["description"] == 'a "quoted" source'
    code, _, said = thrust(None, *words)
    assert code == 2 and "motor.jet_2" in said and said.count("\n") == 1
    assert mine.read_text() == after


def test_write_does_not_change_a_file_that_is_not_a_vehicle_file(thrust, tmp_path):
    code, _, said = thrust(bench_csv(), "--write", "bench.csv")
    assert code == 2 and "bench.csv" in said
    assert (tmp_path / "bench.csv").read_text() == bench_csv()


def test_plant_motor_holds_the_measured_forces_and_currents(thrust, tmp_path):
    assert thrust(bench_csv(measured=rough_n), "--plant", "--write", "motor.toml")[0] == 0
    curves = tomllib.loads((tmp_path / "motor.toml").read_text())["plant"]["motor"]["bench"]["curve"]
    assert [curve["battery_v"] for curve in curves] == list(VOLTS)
    for curve in curves:
        forces_n = np.interp(PULSES_US, curve["pulses_us"], curve["forces_n"])
        assert np.abs(forces_n - rough_n(curve["battery_v"], PULSES_US)).max() < 6 * NOISE_N
        currents_a = np.interp(PULSES_US, curve["pulses_us"], curve["currents_a"])
        assert np.abs(currents_a - 0.4 * np.abs(forces_n)).max() < 0.5


def test_read_converts_kgf_averages_repeated_pulses_and_ignores_case(tmp_path):
    plain = fits(bench_csv(), tmp_path)[0]
    lines = bench_csv().splitlines()
    cells = [line.split(",") for line in lines[2:]]
    twice = [[*c[:4], str(float(c[4]) / 9.80665 + s)] for c in cells for s in (-0.01, 0.01)]
    other = "\n".join(["Voltage_v,PWM_us,rpm,current_A,force_kgf", "", *map(",".join, reversed(twice))])
    assert fits(other, tmp_path)[0].table["pulses_us"] == plain.table["pulses_us"]
    assert fits(other, tmp_path)[0].table["forces_n"] == pytest.approx(plain.table["forces_n"], abs=2e-3)


def line_of(k: int, text: str) -> str:
    lines = bench_csv().splitlines()
    lines[k] = text
    return "\n".join(lines)


def one_way(volts, pulses_us):
    return np.maximum(truth_n(volts, pulses_us), 0)


HEAD = "voltage_V,pwm_us,rpm,current_A,force_n"

WRONG = {
    "missing file": (None, ["bench.csv", "does not exist"]),
    "empty file": ("", ["bench.csv", "empty"]),
    "comments alone": ("# nothing\n\n", ["bench.csv", "empty"]),
    "no measurements": (HEAD + "\n", ["bench.csv", "no measurements"]),
    "missing columns": ("volts,pwm_us,push\n1,2,3\n", ["voltage_V", "force_kgf", "push"]),
    "text in a number": (line_of(5, "12.0,much,0,0,0"), ["line 6", "pwm_us", "much"]),
    "a short line": (line_of(5, "12.0,1112"), ["line 6", "force_n", "empty"]),
    "not a number": (line_of(7, "12.0,1120,0,0,nan"), ["line 8", "force_n", "nan"]),
    "a pulse from elsewhere": (line_of(7, "12.0,11,0,0,0"), ["line 8", "pwm_us", "11"]),
    "no voltage": (line_of(7, "0,1120,0,0,0"), ["line 8", "voltage_V", "above 0"]),
    "too few points": ("\n".join(bench_csv().splitlines()[:15]), ["12 V", "13", "too few"]),
    "reversed": (bench_csv(measured=lambda v, us: -truth_n(v, us)), ["12 V", "grow"]),
    "nothing at all": (bench_csv(measured=lambda v, us: 0 * truth_n(v, us)), ["12 V", "grow"]),
    "only one direction": (bench_csv(measured=one_way), ["12 V", "backward", "both directions"]),
    "another neutral": (bench_csv(measured=lambda v, us: truth_n(v, us + 100)), ["1500 us", "--neutral"]),
    "not text": (b"\xff\xfe\x00v", ["bench.csv", "UTF-8"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_data_gives_one_sentence_with_its_line(thrust, tmp_path, what):
    text, words = WRONG[what]
    code, out, said = thrust(text)
    assert code == 2 and out == ""
    assert said.count("\n") == 1 and "Traceback" not in said
    for word in words:
        assert word in said, said
    assert not (tmp_path / "runs").exists()


def test_plant_requires_measured_currents(thrust):
    code, _, said = thrust(bench_csv().replace("current_A", "amps"), "--plant")
    assert code == 2 and "current_A" in said


def test_name_that_is_not_valid_is_rejected(thrust):
    code, _, said = thrust(bench_csv(), "--name", "T 200")
    assert code == 2 and "T 200" in said
