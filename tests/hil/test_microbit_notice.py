"""A micro:bit runs the look-up table although the vehicle file has oscillators: the terminal and the log say so."""

from caudal.onboard.run.config import open_file
from caudal.tools.hil.command import on_microbit


def test_microbit_says_that_it_runs_the_table_instead_of_oscillators(capsys):
    file, about = on_microbit(open_file("fish", [], "cruise"))
    sentence = about["controller"]
    assert file.tables["gait"]["source"] == "table" and file.overrides == ["gait.source=table"]
    assert "look-up table" in sentence and "oscillators" in sentence
    assert capsys.readouterr().err == sentence + "\n"


def test_microbit_says_nothing_when_the_file_has_the_table(capsys):
    overrides = ["gait.source=table"]
    file, about = on_microbit(open_file("fish", overrides, "cruise"))
    assert file.overrides == overrides and not about and not capsys.readouterr().err
