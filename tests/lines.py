"""Counts the project's Python lines by room, and how many of them are docstrings: `make lines`."""

import ast
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(text: str) -> int:
    """Lines that docstrings take."""
    found = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            found += (first.end_lineno or first.lineno) - first.lineno + 1
    return found


def room_of(path: str) -> str:
    """The folder that a file counts to: the second level below the first-level folders."""
    parts = path.split("/")[:-1]
    return "/".join(parts[:2]) if parts else "."


def main() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines: Counter[str] = Counter()
    docstrings: Counter[str] = Counter()
    for path in listed.stdout.split():
        text = (ROOT / path).read_text(encoding="utf-8")
        for room in {room_of(path), room_of(path).split("/")[0], "all"}:
            lines[room] += text.count("\n")
            docstrings[room] += docstring_lines(text)
    print(f"{'room':32}{'lines':>8}{'docstrings':>12}")
    for room in sorted(lines, key=lambda room: (room == "all", room)):
        print(f"{room:32}{lines[room]:8,}{docstrings[room]:12,}")


if __name__ == "__main__":
    main()
