"""Rooms are the sub-packages of tools, onboard, hal and sim_plant: their imports of each other have no cycle.

python tests/project/test_rooms.py    prints the files of each room, and the imports between rooms
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("tools", "onboard", "hal", "sim_plant")

Edges = dict[tuple[str, str], Counter[str]]  # from one room to another: each import as "file -> module"


def room_of(parts: tuple[str, ...]) -> str:
    """The room of a module, given the parts of its name without "caudal"; a module of a package's top is its own."""
    return "/".join(parts[:2])


def is_type_checking(node: ast.AST) -> bool:
    """Is it `if TYPE_CHECKING:`, which is for type checkers alone?"""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes that run, those of functions too."""
    for child in ast.iter_child_nodes(tree):
        if not is_type_checking(child):
            yield child
            yield from nodes(child)


def imports(source: str, package: Path) -> Iterator[tuple[str, ...]]:
    """The project's modules that a source imports, as parts of their names without "caudal"."""
    for node in nodes(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            first, *parts = name.split(".")
            if first == "caudal" and parts and parts[0] in PACKAGES:
                while len(parts) > 1 and not is_module(package.joinpath(*parts)):
                    parts.pop()  # a class or a function
                yield tuple(parts)


def is_module(path: Path) -> bool:
    """Is it a module or a package?"""
    return path.with_suffix(".py").is_file() or path.is_dir()


def rooms(package: str, root: Path = ROOT) -> tuple[dict[str, int], Edges]:
    """The number of files of each room of a package, and the imports between its rooms."""
    files: Counter[str] = Counter()
    edges: Edges = defaultdict(Counter)
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[-1] == "__init__" and len(parts) == 2:
            continue  # the package itself
        room = room_of(parts)
        files[room] += 1
        for module in imports(path.read_text(encoding="utf-8"), root):
            other = room_of(module)
            if module[0] == package and other not in (room, package):
                edges[room, other][f"{'.'.join(parts)} -> {'.'.join(module)}"] += 1
    return dict(files), edges


def cycle(edges: Edges) -> list[str]:
    """The rooms that reach themselves."""
    after = defaultdict(set)
    for room, other in edges:
        after[room].add(other)

    def reached(room: str, seen: set[str]) -> set[str]:
        for other in after[room] - seen:
            seen.add(other)
            reached(other, seen)
        return seen

    return sorted(room for room in list(after) if room in reached(room, set()))


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_import_each_other_without_a_cycle(package):
    _, edges = rooms(package)
    inside = cycle(edges)
    found = [line for (a, b), lines in edges.items() if a in inside and b in inside for line in lines]
    assert not inside, "these imports make a cycle:\n" + "\n".join(sorted(found))


def test_cycle_is_found_in_functions_but_not_in_typing_blocks(tmp_path):
    one, other = tmp_path / "tools" / "one", tmp_path / "tools" / "other"
    for room in (one, other):
        room.mkdir(parents=True)
        (room / "__init__.py").write_text("")
    (one / "a.py").write_text("def f():\n    from caudal.tools.other.b import thing\n")
    back = "from caudal.tools.one import a\n"
    (other / "b.py").write_text(f"if TYPE_CHECKING:\n    {back}")
    assert cycle(rooms("tools", tmp_path)[1]) == []
    (other / "b.py").write_text(back)
    assert cycle(rooms("tools", tmp_path)[1]) == ["tools/one", "tools/other"]


def main() -> None:
    """Prints the rooms."""
    for package in PACKAGES:
        files, edges = rooms(package)
        for room, count in files.items():
            print(f"{room}: {count} files")
        for (room, other), lines in sorted(edges.items()):
            print(f"  {room} -> {other}: {lines.total()} imports")
        print(f"{package}: rooms in a cycle: {', '.join(cycle(edges)) or 'none'}\n")


if __name__ == "__main__":
    main()
