"""`caudal bend`: soft joints in a cross flow, against beam theory and integration; error messages."""

import json
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from caudal.tools.cli.main import main
from tests.conftest import EEL

MODULE_M, JOINT_M, DIAMETER_M = 0.8, 0.3, 0.22
BENDING_N_M_RAD = 0.651
ACROSS, ALONG = 0.5 * 1000 * DIAMETER_M * 1.1, 0.5 * 1000 * DIAMETER_M * np.pi * 0.01  # N s2/m3
SLOW_M_S = 0.001  # bends by less than 0.001 rad


def slender(from_m: float, to_m: float) -> str:
    ends = f"from_m = [{from_m}, 0, 0], to_m = [{to_m}, 0, 0]"
    return f"slender = [{{{ends}, diameter_m = {DIAMETER_M}, cn = 1.1, ct = 0.01}}]"


def vehicle(joints: int = 2, slide_n_per_m: float = 6000.0) -> str:
    """The plant of modules with soft joints between them, the base's origin in the middle of the first module."""
    half_m = MODULE_M / 2
    text = ['name = "arm"', "[plant]", 'model = "tree"', "[plant.tree]"]
    body = ["mass_kg = 9.0", "inertia_kg_m2 = [0.1, 0.5, 0.5, 0, 0, 0]"]
    text += ["[[plant.tree.body]]", 'name = "m0"', *body, slender(-half_m, half_m)]
    for k in range(joints):
        before = f"m{k}"
        for part, kind, axis in (
            ("d1", "prismatic", [1, 0, 0]),
            ("th1", "revolute", [0, 1, 0]),
            ("th2", "revolute", [0, 0, 1]),
            ("d2", "prismatic", [1, 0, 0]),
        ):
            name = f"m{k + 1}" if part == "d2" else f"{part}_{k}"
            at_m = (half_m if k == 0 else MODULE_M) if part == "d1" else 0
            joint = f'joint = {{name = "{part}_{k}", kind = "{kind}", axis = {axis}, at_m = [{at_m}, 0, 0]}}'
            text += ["[[plant.tree.body]]", f'name = "{name}"', f'parent = "{before}"', joint, *body]
            text += {
                "d1": [slender(-JOINT_M / 2, 0)],
                "th2": [slender(0, JOINT_M / 2)],
                "d2": [slender(0, MODULE_M)],
            }.get(part, [])
            before = name
        valves = [f"{side}_{k}" for side in "abc"]
        for valve in valves:
            text += [
                f"[plant.actuator.{valve}]",
                'kind = "valve"',
                "cracking_current_ua = 0",
                "pa_per_ua = 10",
                "supply_pa = 5e5",
            ]
        text += [
            f"[plant.soft.s{k}]", f'joints = ["d1_{k}", "th1_{k}", "th2_{k}", "d2_{k}"]', f"chambers = {valves}",
            f"length_m = {JOINT_M}", "stretch_m_per_pa = 1.673e-7", "bend_rad_per_pa = 5.12e-6",
            f"stiffness_n_m_rad = {BENDING_N_M_RAD}", "stiff_share = 3.0", f"axial_n_per_m = {slide_n_per_m}",
        ]  # fmt: skip
    return "\n".join(text)


@pytest.fixture
def bend(tmp_path, capsys):
    """Runs the command on the text of a vehicle file; returns the results by shape and model."""

    def run(text: str, *words: object) -> dict[tuple[str, str], dict]:
        file, page = tmp_path / "arm.toml", tmp_path / "page.html"
        file.write_text(text)
        assert main(["bend", str(file), "--page", str(page), "--json", *map(str, words)]) == 0
        found = json.loads(capsys.readouterr().out)["balances"]
        return {(balance["shape"], balance["model"]): balance for balance in found}

    return run


def elastic_line(joints: int, flow_m_s: float) -> np.ndarray:
    """Returns the position of the end of a straight chain in the flow, with joints as inextensible elastic lines.

    Sections carry the force n and moment m of everything outboard. Integrates from the end, where both are 0, inwards,
    with the end's heading chosen so that the base's heading is 0.
    """
    edges = np.cumsum([0.0, MODULE_M, *[JOINT_M, MODULE_M] * joints])

    def inwards(heading: float) -> np.ndarray:
        state = np.array([heading, 0.0, 0.0, 0.0, 0.0, 0.0])  # heading, n_x, n_y, m, x, y
        for k in range(len(edges) - 2, -1, -1):
            flexible = k % 2 == 1

            def slope(_s, u, flexible=flexible):
                t, n = np.array([np.cos(u[0]), np.sin(u[0])]), u[1:3]
                side = np.array([-t[1], t[0]])
                v_t, v_n = flow_m_s * t[1], flow_m_s * side[1]
                f = ALONG * abs(v_t) * v_t * t + ACROSS * abs(v_n) * v_n * side
                turns = u[3] / (BENDING_N_M_RAD * JOINT_M) if flexible else 0.0
                return [turns, -f[0], -f[1], -(t[0] * n[1] - t[1] * n[0]), t[0], t[1]]

            state = solve_ivp(slope, (edges[k + 1], edges[k]), state, rtol=1e-9, atol=1e-12).y[:, -1]
        return state

    short = next(
        phi for phi in np.arange(np.pi / 2, 0, -0.01) if inwards(phi)[0] < 0
    )  # the first from downstream
    heading = brentq(lambda phi: inwards(phi)[0], short, short + 0.01, xtol=1e-11)
    return -inwards(heading)[4:] - [edges[-1], 0.0]


def test_straight_chain_bends_as_hinges_do_in_a_slow_flow(bend):
    found = bend(vehicle(), "--flow", SLOW_M_S)
    load_n_m = ACROSS * SLOW_M_S**2
    beyond_m = np.array([2 * MODULE_M + JOINT_M, MODULE_M])  # from each joint's far end to the end
    arms_m = beyond_m + JOINT_M / 2
    # the flow on an arc bends it all along, l^2 / 6, that on a hinge's outer half only, l^2 / 8
    for model, own in (("suj", JOINT_M**2 / 8), ("cc", JOINT_M**2 / 6)):
        one = found["straight", model]
        bends_rad = load_n_m * (beyond_m * arms_m - beyond_m**2 / 2 + own) / BENDING_N_M_RAD
        assert np.radians(one["joints_deg"]) == pytest.approx(bends_rad, rel=1e-4)
        assert one["y_mm"] == pytest.approx(1e3 * bends_rad @ arms_m, rel=1e-4)
        assert abs(one["x_mm"]) < 1e-3 * one["y_mm"] and one["z_mm"] == 0


def test_pcc_converges_to_beam_theory_with_the_square_of_the_arcs(bend):
    ends_m = [(3.0 - x, 3.0 - x - JOINT_M) for x in (MODULE_M, 2 * MODULE_M + JOINT_M)]
    load_n_m = ACROSS * SLOW_M_S**2
    # unit load: integral of (w a^2 / 2) a over the joints, a the way to the end
    moved_mm = 1e3 * load_n_m / (8 * BENDING_N_M_RAD * JOINT_M) * sum(a**4 - b**4 for a, b in ends_m)
    off = {}
    for pieces in (1, 2, 4):
        found = bend(vehicle(), "--flow", SLOW_M_S, "--pieces", pieces)
        off[pieces] = abs(found["straight", "pcc"]["displacement_mm"] / moved_mm - 1)
    assert off[1] < 0.02 and off[4] < 5e-4
    assert off[1] / off[2] == pytest.approx(4, rel=0.1) and off[2] / off[4] == pytest.approx(4, rel=0.1)
    assert found["straight", "cc"]["displacement_mm"] == pytest.approx(moved_mm * (1 - off[1]), rel=1e-6)


def test_single_hinge_balances_its_moments_at_a_large_angle(bend):
    found = bend(vehicle(joints=1, slide_n_per_m=1e6), "--flow", 0.5)["straight", "suj"]
    arm_m = JOINT_M / 2 + MODULE_M
    moment_n_m = ACROSS * 0.5**2 * arm_m**2 / 2
    angle = brentq(lambda a: BENDING_N_M_RAD * a - moment_n_m * np.cos(a) ** 2, 0, np.pi / 2)
    assert np.radians(found["joints_deg"]) == pytest.approx([angle], abs=1e-4)
    assert found["displacement_mm"] == pytest.approx(1e3 * 2 * arm_m * np.sin(angle / 2), rel=1e-4)


def test_pcc_converges_to_the_elastic_line_at_a_large_angle(bend):
    exact_mm = 1e3 * elastic_line(1, 0.5)
    assert np.linalg.norm(exact_mm) > 1000
    off_mm = {}
    for pieces in (2, 4):
        found = bend(vehicle(joints=1, slide_n_per_m=1e6), "--flow", 0.5, "--pieces", pieces)
        for model, arcs in (("cc", 1), ("pcc", pieces)):
            one = found["straight", model]
            off_mm[arcs] = np.linalg.norm(np.array([one["x_mm"], one["y_mm"]]) - exact_mm)
    assert off_mm[1] > 3 * off_mm[2] > 3**2 * off_mm[4]
    assert off_mm[4] < 2e-3 * np.linalg.norm(exact_mm)


def test_models_agree_within_two_per_cent_in_either_flow_direction(bend):
    port = bend(vehicle(), "--pieces", 2)
    for shape in ("straight", "last bent", "all bent"):
        moved_mm = [port[shape, model]["displacement_mm"] for model in ("suj", "cc", "pcc")]
        assert max(moved_mm) < 1.02 * min(moved_mm)
    starboard = bend(vehicle(), "--pieces", 2, "--flow", -0.5, "--bend", -30)
    for key, one in port.items():
        other = starboard[key]
        assert [other["x_mm"], -other["y_mm"]] == pytest.approx([one["x_mm"], one["y_mm"]], rel=1e-8)
        assert np.negative(other["joints_deg"]) == pytest.approx(one["joints_deg"], rel=1e-8)


def test_joints_stay_at_rest_in_still_water(bend):
    for (shape, _), one in bend(vehicle(), "--flow", 0, "--bend", 25).items():
        rest_deg = {"straight": [0, 0], "last bent": [0, 25], "all bent": [25, 25]}[shape]
        assert one["displacement_mm"] == 0
        assert one["joints_deg"] == pytest.approx(rest_deg, abs=1e-9)


def test_stiffer_joints_bend_less(bend):
    words = ("--flow", 0.05, "--pieces", 1)
    soft, stiff = bend(vehicle(), *words), bend(vehicle(), *words, "--stiff")
    assert all(stiff[key]["displacement_mm"] < soft[key]["displacement_mm"] for key in soft)


def test_bend_prints_a_table_and_writes_a_page_that_loads_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.toml").write_text(vehicle())
    assert main(["bend", "arm.toml", "--flow", "0.05"]) == 0
    out = capsys.readouterr().out
    assert len(re.findall(r"(straight|last bent|all bent) +(suj|cc|pcc) +[0-9.]+", out)) == 9
    assert "runs/arm-bend.html" in out
    page = (tmp_path / "runs" / "arm-bend.html").read_text()
    assert page.count("<svg") == 1 and "all bent" in page
    assert not re.search(r"(src|href)=['\"]https?:", page) and "<script" not in page


WRONG = {
    "no soft joints": (None, [str(EEL)], ["soft joints", "plant.soft"]),
    "no such vehicle": (None, ["nobody"], ["nobody"]),
    "no number": (vehicle(), ["arm.toml", "--flow", "nan"], ["--flow", "nan"]),
    "a torrent": (vehicle(), ["arm.toml", "--flow", "60"], ["--flow", "60"]),
    "too far": (vehicle(), ["arm.toml", "--bend", "120"], ["--bend", "88"]),
    "too many": (vehicle(), ["arm.toml", "--pieces", "99"], ["--pieces", "12"]),
    "a page nowhere": (vehicle(), ["arm.toml", "--flow", "0", "--page", "arm.toml/page.html"], ["--page"]),
    "against the flow": (
        vehicle(),
        ["arm.toml", "--bend", "-60", "--pieces", "1"],
        ["all bent", "suj", "no equilibrium beyond 0.1", "--flow"],
    ),
    "side by side": (
        vehicle().replace('parent = "m1"', 'parent = "m0"'),
        ["arm.toml"],
        ["2 soft joints", "m0"],
    ),
    "no length": (vehicle().replace(slender(0, MODULE_M), ""), ["arm.toml"], ["m1", "slender"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_bend_answers_bad_input_with_one_message(tmp_path, monkeypatch, capsys, what):
    text, words, expected = WRONG[what]
    monkeypatch.chdir(tmp_path)
    if text:
        (tmp_path / "arm.toml").write_text(text)
    assert main(["bend", *words]) == 2
    out, message = capsys.readouterr()
    assert out == "" and message.count("\n") == 1 and "Traceback" not in message
    for word in expected:
        assert word in message, message
