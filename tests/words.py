"""Counts words that the project avoids, in documents, docstrings, comments, messages, vehicle files and names of tests.

    python -m tests.words               # hits by kind
    python -m tests.words --list        # each place
    python -m tests.words --room hal    # of one folder

AVOIDED says what to write instead. Words between backticks, words in quotation marks and
names in code are not checked.
"""

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.blocks import FENCE, INDENTED

ROOT = Path(__file__).parents[1]
SKIPPED = {"build", "runs", "node_modules", "__pycache__", "src"}  # src holds links to the folders
SELF = ("tests/words.py", "tests/project/test_words.py")
CHECKED = ("document", "docstring", "message", "vehicle file")  # kinds that have no hits outside of tests

BE = r"(?:is|are|was|were|be|been|being|not|never|than|as|it|has|have)"
AVOIDED = {  # regular expression: what to write instead
    r"whoever|nobody|somebody|anybody|everybody": "the one that acts: the loop, a station, a user",
    r"whom(?:ever)?": "that, which",
    r"told|tells?|telling": "sends, reports, reads, distinguishes",
    rf"heard|{BE} asked|asked of|what is asked|(?:looked|looking|looks?) on(?: at)?|looked at": (
        "received, requested, measured, viewed"
    ),
    r"heed(?:s|ed|ing)?": "update, obey",
    r"lest": "so that ... not",
    r"anew|afresh": "again",
    r"besides?": "next to, compared with; also",
    r"but for": "except",
    r"reckon\w*|foretell\w*|foretold": "compute, predict",
    r"believe\w*": "estimate, assume",
    r"doors?": "interface",
    r"babbl\w+": "line noise",
    r"greet\w*": "connect",
    r"hellos?": "handshake",
    r"(?<!tail )(?<!surface )swimmers?|fleets?": "vehicle, simulation",
    r"swum|swims? (?:it|them|the|an?|three|by)": "run, simulate, follow",
    r"upset(?!s? (?:in|over)).*?": "fault",
    r"befall\w*|befell|suffer\w*": "inject, affect",
    r"rehears\w+": "fault injection on request",
    r"mend(?:s|ed|ing)?": "clear, repair",
    r"shrink\w*|shrunk|shrank": "minimize, get smaller",
    r"black[ -]box(?:es)?": "tick log",
    r"graft\w*": "hot update",
    r"(?:are|is|were|was|not) kept(?! (?:small|within|along|level|constant|between|below|above|at|clear|up))": "stored",
    r"keepers?|kept (?:in|aboard|here|there|as they)|keeps? (?:parameters|values|what)": "parameter store, stores",
    r"crafts?|peers?": "vehicle, ground-station link",
    r"pilot's hand": "manual input",
    r"(?<!caudal )bench wires?|(?:the|a|over|on|across|each) wire(?:'s)?": "HIL link",
    r"orders(?! of magnitude)|(?:an|one|each|every) order(?! of| in)": "command",
    r"wants|wanted|the want": "setpoint, reference, needed",
    r"(?:the|safety|a) gates?": "output limiter",
    r"failsafe rows?|rows? of the failsafe table": "failsafe rule",
    r"bars? arming": "blocks arming",
    r"dead[ -]m[ae]n": "link timeout",
    r"judge\w*|judging": "check, evaluate",
    r"'s account|an account": "diagnostics",
    r"promis\w+": "invariant, requirement; what it does",
    r"aboard": "on the vehicle",
    r"own run": "on-vehicle run",
    r"by the clock|as fast as it can": "in real time, by time; unpaced",
    r"troubles?|troubled": "fault, fault injector",
    r"(?:falls?|fell|fallen|goes|gone|went) silent": "times out",
    r"news": "events",
    r"aims?(?! at| to)": "task",
    r"way on(?! the)": "headway",
    r"lean(?:s|ed|ing)?": "pitch, deflection, tilt",
    r"postures?": "configuration, shape",
    r"fixes|(?:a|the|each|every|no) fix": "position measurement",
    r"pictures?|films?": "screenshot, plot, video",
    r"helm": "command handler",
    r"round (?:the|an?|its?|them|their|each|every|two|jammed|\d)": "around",
}
PATTERNS = {
    re.compile(rf"(?<![\w/.-])(?:{words})(?![\w/-]|\.(?:py|md|toml)\b)", re.IGNORECASE): words
    for words in AVOIDED
}
CODE = re.compile(r"`[^`]*`|\"\w+\"|https?://\S+|\]\([^)]*\)")
ALLOWED = {  # a word's own meaning: pattern of the path, pattern of the text around the hit
    r"^hal/(pi|emulated)/|new-device": r"wire",  # an I2C bus has wires
    r"estimate|identify": r"gate",  # of a filter's innovations
    r"^tools/(calibrate|bench/wire)": r"wire",  # a probe's; the name of a benchmark
    r"^tools/view": r"\baim\b",  # of a camera
    r"^tools/bench": r"aims|bench wire",  # names of benchmarks
    r"^(tests/|onboard/)link": r"on the wire",  # bytes
    r"^tools/faults|fault_requests|on_request_faults|test_stream": r"\bmend\b",  # the word of a request
    r".": r"(?i)round (?:trip|off)|docs/pictures|make pictures|signing times not kept|wire comes loose",
}


@dataclass(frozen=True)
class Text:
    kind: str
    path: str
    line: int
    text: str


@dataclass(frozen=True)
class Hit:
    kind: str
    path: str
    line: int
    words: str  # of AVOIDED
    found: str
    context: str

    @property
    def room(self) -> str:
        """The folder of the file, at most two levels deep."""
        return "/".join(Path(self.path).parts[:-1][:2]) or "."


def files(root: Path) -> Iterator[Path]:
    """Every file with prose, without what is built or installed."""
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        prose = path.suffix in (".py", ".md", ".toml") or path.name == "Makefile" or parts[0] == "deploy"
        skipped = any(part in SKIPPED or part.startswith(".") for part in parts)
        if path.is_file() and prose and not skipped:
            yield path


def texts(path: Path, name: str) -> Iterator[Text]:
    """The prose of one file."""
    try:
        source = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    test = "test " if name.startswith("tests/") else ""
    if path.suffix == ".md":
        yield from _document(source, name, test)
    elif path.suffix == ".py":
        yield from _python(source, name, test)
    elif "vehicles/" in name:
        yield from _toml(source, name, f"{test}vehicle file")
    else:
        for number, line in enumerate(source.splitlines(), 1):
            if found := re.search(r"(?:^|\s)#\s(.*)", line):
                yield Text(f"{test}comment", name, number, found[1])


def _document(source: str, name: str, test: str) -> Iterator[Text]:
    def comments(block: re.Match[str]) -> str:
        return re.sub(r"(?m)^(.*?)(#\s.*)?$", lambda line: line[2] or "", block[0])

    yield Text(f"{test}document", name, 1, INDENTED.sub(comments, FENCE.sub(comments, source)))


def _toml(source: str, name: str, kind: str) -> Iterator[Text]:
    for number, line in enumerate(source.splitlines(), 1):
        for said in re.findall(r"(?:^|\s)#\s(.*)|\b(?:about|description) = \"([^\"]*)\"", line):
            yield Text(kind, name, number, " ".join(said))


def _python(source: str, name: str, test: str) -> Iterator[Text]:
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.add(id(first.value))
                if isinstance(first.value.value, str):
                    yield Text(f"{test}docstring", name, first.lineno, first.value.value)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Text("test name", name, node.lineno, node.name.replace("_", " "))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values]
            yield from _message("".join(parts), name, node.lineno, test)
        elif isinstance(node, ast.Constant) and id(node) not in docstrings | inside:
            yield from _message(str(node.value), name, node.lineno, test)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(f"{test}comment", name, token.start[0], token.string.lstrip("# "))


def _message(text: str, name: str, line: int, test: str) -> Iterator[Text]:
    if " " in text.strip():  # a single word is a key or a name
        yield Text(f"{test}message", name, line, text)


def hits(root: Path = ROOT) -> list[Hit]:
    """Every place below `root` with a word that the project avoids."""
    found = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        if name not in SELF:
            for text in texts(path, name):
                found += find(text)
    return found


def find(text: Text) -> Iterator[Hit]:
    """Every avoided word in a text."""
    plain = CODE.sub(lambda code: re.sub(r"[^\n]", "~", code[0]), text.text)
    plain = re.sub(r"(?<=\w)\n\s*(?=\w)", "\n", plain)
    for pattern, words in PATTERNS.items():
        for match in pattern.finditer(re.sub(r"\n", " ", plain)):
            context = re.sub(r"\s+", " ", plain[max(0, match.start() - 45) : match.end() + 45])
            allowed = any(re.search(a, text.path) and re.search(b, context) for a, b in ALLOWED.items())
            if not allowed:
                line = text.line + plain[: match.start()].count("\n")
                yield Hit(text.kind, text.path, line, words, match[0], context)


def main() -> None:
    """Prints the hits by kind, by word and by room."""
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    command.add_argument("root", nargs="?", type=Path, default=ROOT, help="folder of the project")
    command.add_argument("--list", action="store_true", help="print each place")
    command.add_argument("--room", default="", help="only files whose path begins so")
    args = command.parse_args()
    found = [hit for hit in hits(args.root) if hit.path.startswith(args.room)]
    if args.list:
        for hit in found:
            print(f"{hit.path}:{hit.line}: {hit.kind}: {hit.found!r} ({AVOIDED[hit.words]}): {hit.context}")
    for title, keys in (
        ("kind", [hit.kind for hit in found]),
        ("word", [hit.found.lower() for hit in found]),
        ("room", [hit.room for hit in found]),
    ):
        print(f"\nhits by {title}")
        for key, count in Counter(keys).most_common(None if title != "word" else 25):
            print(f"{count:7}  {key}")
    print(f"\n{len(found):7}  in all")


if __name__ == "__main__":
    main()
