"""Executes the blocks of a document in a folder of its own, and counts them.

sh         a shell script; a line that ends in `# refused` must fail
commands   one after the other, in a folder that also has links to the project's own; see here_and_elsewhere.py. A
           command that runs until it is stopped is started and stopped again: a view once its page is served, by
           Ctrl-C; a run with ground stations once a station receives telemetry, by SIGTERM, as a service is.
           Files that a command writes (OWN) must exist afterwards
python     a program, or tests (def test_...), which pytest runs
toml       a file, if its first line is a comment with a file's name; otherwise all of its keys must be keys of the
           vehicle file that its first line names (# into fish)
text       printed or drawn; not run. So are mermaid diagrams

Ports to listen on are replaced by free ones, so that two test runs can share a machine.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from tests.command_line import start
from tests.conftest import ROOT
from tests.deploy.conftest import Card
from tests.docs.blocks import Block
from tests.docs.here_and_elsewhere import shortened, why_not_here
from tests.docs.words import read
from tests.waiting import LIMIT_S

FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
INTO = re.compile(r"# into (\w+)\n")
REFUSED = re.compile(r"(?m)^(.*\S) +# refused.*$")
PORT = re.compile(r"\b((?:udp|udpout|tcp):(?:[\w.]+:)?)(\d{4,5})\b")
OWN = ("--log", "--screenshot", "--video", "--write", "--params", "--dry-run")
BIN = Path(sys.executable).parent
PATIENCE_S = LIMIT_S


@dataclass
class Count:
    blocks: int = 0
    commands: int = 0
    parsed: int = 0


@dataclass
class Desk:
    folder: Path
    count: Count = field(default_factory=Count)
    ports: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("onboard", "deploy", "tests", "Makefile"):
            (self.folder / name).symlink_to(ROOT / name)

    def work(self, block: Block) -> None:
        getattr(self, f"_{block.kind}")(block)
        self.count.blocks += 1

    # the kinds of blocks ------------------------------------------------------------------------------------------

    def _toml(self, block: Block) -> None:
        tomllib.loads(block.text)
        named, into = FILE.match(block.text), INTO.match(block.text)
        assert named or into, f"{block.where}: the first line must name a file, or a vehicle (# into fish)"
        path = self.folder / (named[1] if named else "block.toml")
        path.write_text(block.text, encoding="utf-8")
        if into:
            self._done(["caudal", "check", into[1], "--with", path.name], block)

    def _python(self, block: Block) -> None:
        named = FILE.match(block.text)
        path = self.folder / (named[1] if named else "block.py")
        path.write_text(self._with_free_ports(block.text), encoding="utf-8")
        tests = not named and "\ndef test_" in "\n" + block.text
        self._done(
            ["python", *(("-m", "pytest", "-q", "-p", "no:cacheprovider") if tests else ()), path.name], block
        )

    def _sh(self, block: Block) -> None:
        script = REFUSED.sub(r"! \1", self._with_free_ports(block.text))
        self._done(["bash", "-euo", "pipefail", "-c", script], block)
        self.count.commands += len(block.commands())

    def _commands(self, block: Block) -> None:
        for words in block.commands():
            if why_not_here(words, block.document):
                self._parse(words)
            else:
                self._run(words, block)
                for option, name in zip(words, words[1:], strict=False):
                    missing = option in OWN and not (self.folder / name).exists()
                    assert not missing, f"{block.where}: {' '.join(words)} left no {name}"
                self.count.commands += 1

    # one command --------------------------------------------------------------------------------------------------

    def _parse(self, words: list[str]) -> None:
        self.count.parsed += 1
        if words[0] == "caudal":
            read(words[1:])
        elif words[0] == "make":
            done = self._popen(["make", "-n", "-o", "setup", *words[1:]], stdout=subprocess.PIPE, text=True)
            recipe = done.communicate()[0]
            assert done.returncode == 0, f"there is no {' '.join(words)}"
            for line in re.findall(r"(?m)^\S*/caudal (.*)$", recipe):
                read(line.split())
        else:
            path = words[2].replace(".", "/") + ".py" if words[1] == "-m" else words[1]
            compile((self.folder / path).read_text(encoding="utf-8"), path, "exec")

    def _run(self, words: list[str], block: Block) -> None:
        words = [self._with_free_ports(word) for word in words]
        if words[:2] == ["make", "run"]:  # without the installation
            self._done(["make", "-o", "setup", f"BIN={BIN}", "run"], block)
            assert {path.suffix for path in (self.folder / "runs").iterdir()} == {".mcap", ".html"}
        elif words[0] != "caudal":
            self._done(shortened(words, block.heading, False), block)
        else:
            args = read(words[1:])
            if getattr(args, "mavlink", None) and args.command == "run":
                self._until_received(words, args.mavlink[0], block)
            elif getattr(args, "view", False) or (
                args.command == "view" and not (args.screenshot or args.video)
            ):
                self._until_served(words, block)
            elif args.command == "deploy" and args.target == "pi":
                self._deploy(words, block)
            else:
                takes_time = "--for" not in words and args.command in ("run", "hil", "sweep")
                self._done(shortened(words, block.heading, takes_time), block)

    def _until_served(self, words: list[str], block: Block) -> None:
        """Runs a view until its page is served."""
        process = self._popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        said = ""
        for line in process.stderr:
            said += line
            if url := re.search(r"http://\S+", line):
                with urllib.request.urlopen(url[0], timeout=PATIENCE_S) as page:
                    assert page.status == 200
                break
        self._end(process, signal.SIGINT, block, words, said)

    def _until_received(self, words: list[str], address: str, block: Block) -> None:
        """Runs a vehicle until a station receives telemetry."""
        from pymavlink import mavutil

        kind, _, port = address.partition(":")
        port = port.rpartition(":")[2]
        other = {"udp": "udpout", "udpout": "udpin", "tcp": "tcp"}[kind]
        process = self._popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        station = None
        give_up = time.monotonic() + PATIENCE_S
        received = None
        while received is None and process.poll() is None and time.monotonic() < give_up:
            try:
                station = station or mavutil.mavlink_connection(f"{other}:127.0.0.1:{port}", retries=0)
                if other != "udpin" or station.last_address:
                    station.mav.heartbeat_send(6, 8, 0, 0, 0)
                # long after its first tick, which may compile the plant; a heartbeat comes earlier
                said = station.recv_match(type="ATTITUDE", blocking=True, timeout=0.2)
                received = said if said and said.time_boot_ms > 100 else None
            except OSError:  # the port is not open yet
                time.sleep(0.2)
        if station:
            station.close()
        assert received, f"{block.where}: no station received telemetry of `{' '.join(words)}`"
        self._end(process, signal.SIGTERM, block, words, "")

    def _end(
        self, process: subprocess.Popen, how: signal.Signals, block: Block, words: list[str], said: str
    ) -> None:
        running = process.poll() is None
        process.send_signal(how)
        said += process.communicate(timeout=PATIENCE_S)[1]
        assert running, f"{block.where}: `{' '.join(words)}` ended by itself:\n{said}"
        # a run that had a length was ended before it: the run failed
        cut_short = words[1] == "run" and "--mavlink" not in words
        assert process.returncode == (1 if cut_short else 0), f"{block.where}: {' '.join(words)}:\n{said}"
        assert "Traceback" not in said, said

    def _deploy(self, words: list[str], block: Block) -> None:
        """Deploys to a local folder: as a mounted card, or through an ssh command that is a shell."""
        shutil.rmtree(self.folder / "card", ignore_errors=True)
        card = Card(self.folder / "card")
        if "--root" in words:
            words = [str(card.root) if word == "/mnt/card" else word for word in words]
        else:
            words = [*words, "--ssh", str(card.ssh(self.folder / "ssh"))]
        self._done(words, block)
        assert card.current()

    def _done(self, words: list[str], block: Block) -> None:
        process = self._popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=2 * PATIENCE_S)
        said = f"{block.where}: {' '.join(words)}\n{(out + err)[-3000:]}"
        assert process.returncode == 0, said
        assert "Traceback" not in err, said

    def _popen(self, words: list[str], **options) -> subprocess.Popen:
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        home = {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state")}
        options |= {"cwd": self.folder, "env": {**os.environ, "PATH": path, **home}}
        return start(*words[1:], **options) if words[0] == "caudal" else subprocess.Popen(words, **options)

    def _with_free_ports(self, text: str) -> str:
        return PORT.sub(lambda found: found[1] + self._free(found[2]), text)

    def _free(self, port: str) -> str:
        if port not in self.ports:
            with socket.socket() as there:
                there.bind(("127.0.0.1", 0))
                self.ports[port] = str(there.getsockname()[1])
        return self.ports[port]
