"""Releases on a card: installed, switched, on trial, rolled back, and uninstalled."""

import json
import os
from pathlib import Path

import pytest


def test_second_release_becomes_current_and_the_first_stays(card, small_release):
    card.release("install", small_release("1"))
    done = card.release("install", small_release("2"))
    assert (done["done"], done["release"], done["previous"]) == ("installed", "2", "1")
    assert (card.root / "etc/caudal/vehicle.toml").read_text() == "2"
    assert sorted(path.name for path in (card.root / "opt/caudal/releases").iterdir()) == ["1", "2"]


def test_install_changes_nothing_when_the_release_is_current(card, small_release):
    folder = small_release("1")
    card.release("install", folder)
    before = card.files()
    assert card.release("install", folder)["done"] == "unchanged"
    assert card.files() == before


def test_calibration_and_logs_stay_when_releases_are_removed(card, small_release):
    card.release("install", small_release("1"))
    kept = [card.root / "var/lib/caudal/calibration.toml", card.root / "var/log/caudal/1.mcap"]
    for path in kept:
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    card.release("install", small_release("2"))
    card.release("back")
    card.release("uninstall")
    assert all(path.read_text() == "mine" for path in kept)


def test_uninstall_leaves_the_card_as_it_was(card, small_release):
    before = card.files()
    card.release("install", small_release("1"))
    card.release("install", small_release("2", extra="[Service]\nExecStart=/bin/true\n"))
    card.release("uninstall", "--purge")
    assert card.files() == before
    assert card.release("uninstall")["done"] == "uninstalled"  # once more is no error


def test_release_installs_its_own_units_and_removes_them_when_rolled_back(card, small_release):
    extra = card.root / "etc/systemd/system/extra.service"
    card.release("install", small_release("1"))
    card.release("install", small_release("2", extra="[Install]\nWantedBy=multi-user.target\n"))
    assert extra.exists()
    card.release("back")
    assert not extra.exists() and card.current() == "1"
    assert not os.path.lexists(extra.parent / "multi-user.target.wants/extra.service")


def test_install_writes_its_lines_into_the_firmware_config_once(card, small_release):
    for name in ("1", "2"):
        card.release("install", small_release(name))
    text = card.config.read_text()
    assert text.startswith("# firmware\ndtparam=audio=on\n")
    assert text.count("dtparam=i2c_arm=on,i2c_arm_baudrate=400000") == text.count("enable_uart=1") == 1


def test_install_warns_when_there_is_no_firmware_config(card, small_release):
    card.config.unlink()
    notes = card.release("install", small_release("1"))["notes"]
    assert any("no boot/firmware/config.txt" in note for note in notes)


def test_install_warns_when_a_console_uses_the_serial_line(card, small_release):
    card.config.with_name("cmdline.txt").write_text("console=serial0,115200 root=/dev/mmcblk0p2\n")
    notes = card.release("install", small_release("1"))["notes"]
    assert any("console on serial0" in note for note in notes)


def test_release_on_trial_is_rolled_back_after_three_boots(card, small_release):
    card.release("install", small_release("1"))
    (card.root / "opt/caudal/trial.json").unlink()  # it has stayed up
    card.release("install", small_release("2"))
    for _ in range(3):
        card.release("boot")
        assert card.current() == "2"
    done = card.release("boot")
    assert (done["done"], done["release"]) == ("went back", "1")
    assert "3 boots" in card.release("health", code=1)["went_back"]["why"]


def test_first_release_is_started_again_when_it_fails(card, small_release):
    card.release("install", small_release("1"))
    for _ in range(5):
        card.release("boot")
    assert card.current() == "1"
    assert card.release("fallback")["done"] == "started again"
    assert "no release before" in card.release("back", code=2)["error"]


def test_release_on_trial_is_rolled_back_for_good_when_it_fails(card, small_release):
    for name in ("1", "2"):
        card.release("install", small_release(name))
    done = card.release("fallback")
    assert (done["done"], done["release"], done["previous"]) == ("went back", "1", None)
    assert card.release("fallback")["done"] == "started again"


def test_confirmed_release_is_started_again_when_it_fails(card, small_release):
    for name in ("1", "2"):
        card.release("install", small_release(name))
    (card.root / "opt/caudal/trial.json").unlink()
    assert card.release("fallback")["done"] == "started again"
    assert card.current() == "2"


def test_prune_keeps_the_current_and_the_previous_release(card, small_release):
    for name in "12345":
        card.release("install", small_release(name))
    left = {path.name for path in (card.root / "opt/caudal/releases").iterdir()}
    assert {"4", "5"} < left and len(left) == 3


def test_install_replaces_a_release_whose_copy_was_interrupted(card, small_release):
    card.release("install", small_release("1"))
    half = card.root / "opt/caudal/releases/.2"
    half.mkdir()
    (half / "left.over").touch()
    done = card.release("install", small_release("2"))
    assert done["release"] == "2" and not half.exists()
    assert not (card.root / "opt/caudal/current/left.over").exists()


def test_install_repairs_a_release_that_is_damaged_on_the_card(card, small_release):
    folder = small_release("1")
    card.release("install", folder)
    (card.root / "etc/caudal/vehicle.toml").write_text("\0\0\0")
    card.release("install", folder)
    assert (card.root / "etc/caudal/vehicle.toml").read_text() == "1"


def test_install_rejects_a_damaged_release_and_changes_nothing(card, small_release):
    card.release("install", small_release("1"))
    before = card.files()
    damaged = small_release("2")
    (Path(damaged) / "etc/vehicle.toml").write_text("half of")
    assert "is incomplete or damaged" in card.release("install", damaged, code=2)["error"]
    assert card.files() == before


def test_rollback_skips_a_previous_release_that_was_on_trial(card, small_release):
    card.release("install", small_release("1"))
    (card.root / "opt/caudal/trial.json").unlink()  # it has stayed up
    for name in ("2", "3"):
        card.release("install", small_release(name))
    assert card.release("fallback")["release"] == "1"


def test_boot_ignores_a_truncated_trial_file(card, small_release):
    for name in ("1", "2"):
        card.release("install", small_release(name))
    (card.root / "opt/caudal/trial.json").write_text('{"rel')
    assert card.release("boot")["done"] == "no trial"
    assert card.current() == "2"


@pytest.mark.parametrize(
    ("keep_mb", "left"), [(0.0, ["3"]), (0.0015, ["3"]), (0.0025, ["2", "3"]), (1.0, ["1", "2", "3"])]
)
def test_tidy_removes_the_oldest_logs_and_never_the_newest(card, keep_mb, left):
    logs = card.root / "var/log/caudal"
    logs.mkdir(parents=True)
    for age, name in enumerate("321"):
        path = logs / f"{name}.mcap"
        path.write_bytes(bytes(1000))
        os.utime(path, (1e9 - age, 1e9 - age))
    card.release("tidy", "--keep-mb", str(keep_mb), "--free-mb", "0")
    assert sorted(path.stem for path in logs.iterdir()) == left


def test_health_is_bad_when_no_service_runs(card, small_release):
    card.release("install", small_release("1"))
    said = card.release("health", code=1)
    assert said["healthy"] is False and said["release"] == "1" and said["on_trial"] is True
    json.dumps(said)
