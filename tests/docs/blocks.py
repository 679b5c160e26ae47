"""Code blocks of a document, and how each is run.

sh        a shell script, in the document's own folder, with `caudal` at hand; a line ending in `# refused` must fail
python    a program, there too
toml      a file, if its first line is a comment with a file's name; else it only has to be TOML
text      what is printed or drawn; not run. So are mermaid diagrams
"""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
KINDS = ("sh", "python", "toml", "text", "mermaid")
FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
REFUSED = re.compile(r"(?m)^(.*\S) +# refused.*$")


@dataclass(frozen=True)
class Block:
    document: str
    line: int
    kind: str
    text: str

    @property
    def runs(self) -> bool:
        return self.kind in ("sh", "python", "toml")

    def run(self, folder: Path) -> None:
        """In a folder that keeps what earlier blocks left there."""
        where = f"{self.document}:{self.line}"
        if self.kind == "toml":
            tomllib.loads(self.text)
            named = FILE.match(self.text)
            if named:
                path = folder / named[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self.text, encoding="utf-8")
            return
        words = ["bash", "-euo", "pipefail", "-c", REFUSED.sub(r"! \1", self.text)]
        if self.kind == "python":
            named = FILE.match(self.text)
            path = folder / (named[1] if named else "block.py")
            path.write_text(self.text, encoding="utf-8")
            words = [sys.executable, path.name]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "HOME": str(folder)}
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        output = (done.stdout + done.stderr)[-3000:]
        assert done.returncode == 0, f"{where}:\n{self.text}\n{output}"
        assert "Traceback" not in done.stderr, f"{where}:\n{self.text}\n{output}"


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [
        Block(path.name, text[: found.start()].count("\n") + 1, found[1], found[2])
        for found in FENCE.finditer(text)
    ]
