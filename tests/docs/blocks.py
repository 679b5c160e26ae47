"""Blocks and commands of a document.

A block is fenced, with its kind in the first line, or indented by four. An indented block in which every line begins
with a program (PROGRAMS) is a list of commands; any other is text. desk.py runs each kind; here_and_elsewhere.py lists
the commands that are shortened, or cannot run here.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
INDENTED = re.compile(r"(?m)(?<=\n\n)(?: {4,}\S.*\n|\n(?= {4}))+")
HEADING = re.compile(r"(?m)^#+ (.*)$")
PROGRAMS = ("caudal", "make", "python", "cp")
KINDS = ("sh", "python", "toml", "text", "mermaid", "commands")
RUN = ("sh", "python", "toml", "commands")


@dataclass(frozen=True)
class Block:
    document: str
    line: int
    heading: str
    kind: str
    text: str

    @property
    def runs(self) -> bool:
        return self.kind in RUN

    @property
    def where(self) -> str:
        return f"{self.document}:{self.line}"

    def commands(self) -> list[list[str]]:
        """The words of each command; of a script, only the lines that begin with a program."""
        if self.kind not in ("sh", "commands"):
            return []
        found = [words for line in self.text.splitlines() for words in split(line)]
        return [words for words in found if words[0] in PROGRAMS]


def split(line: str) -> Iterator[list[str]]:
    """Commands of a line, separated by `;`, without the comment."""
    words = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    words.whitespace_split = True
    words.commenters = "#"
    command: list[str] = []
    for word in words:
        if word != ";":
            command.append(word)
        elif command:
            yield command
            command = []
    if command:
        yield command


def blocks_of(path: Path, name: str) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found = [(fence.start(), fence[1], fence[2]) for fence in FENCE.finditer(text)]
    prose = FENCE.sub(lambda fence: re.sub(r"\S", ".", fence[0]), text)
    for indented in INDENTED.finditer(prose):
        lines = re.sub(r"(?m)^ {4}", "", indented[0])
        begins = [line.split()[0] in PROGRAMS for line in lines.splitlines() if line.strip()]
        found.append((indented.start(), "commands" if all(begins) else "text", lines))
    headings = [(heading.start(), heading[1]) for heading in HEADING.finditer(prose)]
    return [
        Block(
            name,
            text[:at].count("\n") + 1,
            next((title for place, title in reversed(headings) if place < at), ""),
            kind,
            block,
        )
        for at, kind, block in sorted(found)
    ]


def inline_commands(path: Path) -> list[str]:
    """Commands between backticks in the prose; one may continue in the next line."""
    prose = re.sub(r"(?m)^ {4}.*$", "", FENCE.sub("", path.read_text(encoding="utf-8")))
    found = [re.sub(r"\s+", " ", code).replace("\\|", "|") for code in re.findall(r"`([^`]+)`", prose)]
    return [code for code in found if code.startswith(tuple(f"{program} " for program in PROGRAMS))]


def spelled_out(command: str) -> Iterator[list[str]]:
    """Every command that a form like `caudal view [LOG | HOST:PORT]` allows, with all options."""
    plain = re.sub(r"\s*\|\s*", "|", command.replace("[", "").replace("]", "").replace("...", ""))
    alternatives = [word.split("|") for word in shlex.split(plain)]
    for words in product(*alternatives):
        yield list(words)
