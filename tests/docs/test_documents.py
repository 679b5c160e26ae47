"""Every command and program of the documents is executed, in their order."""

import re
import subprocess

import pytest

from caudal.tools.cli.main import COMMANDS
from tests.conftest import ROOT, left_out
from tests.docs.blocks import FENCE, KINDS, PROGRAMS, blocks_of, inline_commands, spelled_out
from tests.docs.desk import Desk
from tests.docs.here_and_elsewhere import PARSED, SHORTER
from tests.docs.words import WrongWords, read_mention

NAMES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "deploy/README.md"]
NAMES += [f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = {name: blocks_of(ROOT / name, name) for name in NAMES}
NEEDS = {
    "tests/view/get-chromium": r"(?m)caudal view .*--(screenshot|video)",
    "deploy/mcu/get-micropython": "--controller micropython",
    "deploy/mcu/get-microbit": "--controller microbit",
}


@pytest.mark.parametrize("name", [name for name in NAMES if any(block.runs for block in BLOCKS[name])])
def test_every_block_of_a_document_runs(name, tmp_path, record_property):
    for script, sign in NEEDS.items():
        if any(re.search(sign, block.text) for block in BLOCKS[name] if block.runs):
            found = subprocess.run(["sh", str(ROOT / script)], capture_output=True, text=True, timeout=900)
            if found.returncode:
                left_out(found.stderr.strip())
    desk = Desk(tmp_path)
    for block in BLOCKS[name]:
        if block.runs:
            desk.work(block)
    record_property("documentation", (desk.count.blocks, desk.count.commands, desk.count.parsed))


@pytest.mark.parametrize("name", NAMES)
def test_every_command_in_the_prose_exists(name, record_property):
    targets = re.search(r"(?m)^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"))
    found = inline_commands(ROOT / name)
    for command in found:
        for words in spelled_out(command):
            if words[0] == "caudal":
                read_mention(words[1:])
            elif words[0] == "make":
                assert words[1] in targets[1].split(), command
            elif words[0] == "python" and words[1] != "-m":
                assert (ROOT / words[1]).exists(), command
    record_property("documentation", (0, 0, len(found)))


@pytest.mark.parametrize("name", NAMES)
def test_every_block_has_a_known_kind(name):
    assert all(block.kind in KINDS for block in BLOCKS[name])
    listed = {line for block in BLOCKS[name] for line in block.text.splitlines() if block.kind == "commands"}
    prose = FENCE.sub("", (ROOT / name).read_text(encoding="utf-8"))
    hidden = re.findall(rf"(?m)^ {{4}}((?:{'|'.join(PROGRAMS)}) .*)$", prose)
    assert set(hidden) <= listed, "a command outside a block of commands is not executed"


@pytest.mark.parametrize("name", NAMES)
def test_every_link_of_a_document_exists(name):
    for target in re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text(encoding="utf-8")):
        if "://" not in target:
            assert ((ROOT / name).parent / target).exists(), target


def test_every_parsed_or_shortened_command_is_in_a_document():
    listed = [
        (block, " ".join(words)) for name in NAMES for block in BLOCKS[name] for words in block.commands()
    ]
    for begin in (*PARSED, *SHORTER):
        assert any(
            words.startswith(begin) or f"{block.document}: {words}".startswith(begin)
            for block, words in listed
        ), begin


def test_command_table_has_every_command():
    listed = inline_commands(ROOT / "docs" / "commands.md")
    assert set(COMMANDS) <= {words.split()[1] for words in listed if words.startswith("caudal ")}


def test_message_for_a_wrong_key_is_that_of_the_readme(caudal):
    promised = next(block.text.strip() for block in BLOCKS["README.md"] if "did you mean" in block.text)
    fish = (ROOT / "onboard" / "vehicles" / "fish.toml").read_text(encoding="utf-8")
    (caudal.folder / "mine.toml").write_text(fish.replace("\nwavelength_m", "\nwavelenght_m", 1))
    done = caudal("check", "mine.toml")
    assert (done.returncode, done.stderr.strip()) == (2, promised)


@pytest.mark.parametrize(
    "command",
    [
        "caudal swim fish",
        "caudal run fish --quick",
        "caudal deploy moon fish",
        "caudal hil run fish --controller abacus",
        "caudal calibrate servo|rudder fish",
    ],
)
def test_unknown_command_or_option_is_found(command):
    with pytest.raises(WrongWords):
        for words in spelled_out(command):
            read_mention(words[1:])
