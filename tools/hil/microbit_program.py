"""A vehicle's program for a micro:bit: its numbers before deploy/mcu/microbit_program.py, in pieces the board can take.

The board compiles what it is sent in the heap it has left, so it is sent one definition at a time, without what only
people read. A vehicle fits if its gait is the look-up table, all its channels are servos and no frame is longer than
the 32 bytes that the board's serial line holds.
"""

import ast
import io
import tokenize
from collections.abc import Sequence

from caudal.hal.core.board import Board
from caudal.hal.core.build import build_actuator
from caudal.hal.core.fixed_point import to_q14
from caudal.hal.core.maps import ServoMap
from caudal.hal.tables.channels import Servo
from caudal.onboard.core.limiter import OutputLimiter
from caudal.onboard.gait.phase import Lag
from caudal.onboard.gait.shape import shape_of
from caudal.onboard.run.null_driver import NullDriver
from caudal.onboard.tables.read import Settings
from caudal.tools.common.output import UsageError
from caudal.tools.common.resources import DEPLOY

SOURCE = DEPLOY / "mcu" / "microbit_program.py"
BELOW = "# ---- below this line it is sent to the board\n"
LARGEST_FRAME = 32  # bytes: the board's buffer is small and nothing holds the sender back
LARGEST_PROGRAM = 3600  # bytes of source; with more the board has no heap left to run in
AT_ONCE = 48  # numbers of the table in one piece
LAYOUT = (
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.COMMENT,
    tokenize.ENDMARKER,
)


def program(settings: Settings, link_timeout_ms: int = 200) -> list[str]:
    """Pieces of source, each to be run on the board in turn; `serve()` is left to the caller."""
    _refuse_what_does_not_fit(settings)
    pieces = [*_numbers(settings, link_timeout_ms), *_definitions()]
    size = sum(len(piece) for piece in pieces)
    if size > LARGEST_PROGRAM:
        problem = f"its program takes {size} bytes of source, a micro:bit has room for {LARGEST_PROGRAM}"
        raise UsageError(f"{settings.name}: {problem}; give its gait fewer rows (gait.table_size)")
    return pieces


def others(settings: Settings) -> list[int]:
    """The channels that the gait does not move: their commands come with each request."""
    assert settings.gait, "checked before"
    joints = settings.gait.joints
    return [k for k, channel in enumerate(settings.actuators) if channel.name not in joints]


def request_size(settings: Settings) -> int:
    """Bytes of a request to the board."""
    return 13 + 3 * len(others(settings))


def answer_size(settings: Settings) -> int:
    """Bytes of its answer."""
    return 4 + 2 * len(settings.actuators)


def _refuse_what_does_not_fit(settings: Settings) -> None:
    name = settings.name
    if not settings.gait:
        raise UsageError(f"{name} has no gait, and a micro:bit runs nothing else; choose another controller")
    if settings.gait.source != "table":
        raise UsageError(f"{name}: a micro:bit runs the look-up table alone; --set gait.source=table")
    for channel in settings.actuators:
        if not isinstance(channel, Servo):
            raise UsageError(f"{name}: {channel.name} is a {channel.map}; a micro:bit maps servos alone")
    largest = max(request_size(settings), answer_size(settings))
    if largest > LARGEST_FRAME:
        problem = f"its channels make frames of {largest} bytes, a micro:bit's line holds {LARGEST_FRAME}"
        raise UsageError(f"{name}: {problem}; choose another controller")


def _numbers(settings: Settings, link_timeout_ms: int) -> list[str]:
    """The vehicle's constants, read off the objects that control it in the portable core.

    Some are private there: a second copy of how they are made would be worse.
    """
    gait, rate_hz = settings.gait, settings.rate_hz
    assert gait, "checked before"
    shape = shape_of(gait)
    board = Board([build_actuator(channel) for channel in settings.actuators], [], NullDriver())
    limiter = OutputLimiter(board, rate_hz)
    names = [channel.name for channel in board.actuators]
    maps = [channel.map for channel in board.actuators if isinstance(channel.map, ServoMap)]
    constants: dict[str, int | Sequence[int | None]] = {
        "RATE": rate_hz,
        "ROWS": shape.rows,
        "ALPHA": Lag(gait.convergence_per_s, rate_hz)._alpha,
        "LINK_TIMEOUT_MS": link_timeout_ms,
        "JOINTS": [names.index(joint) for joint in gait.joints],
        "SHARE": [to_q14(share) for share in gait.turn_share],
        "OTHERS": others(settings),
        "LOW": limiter._low,
        "HIGH": limiter._high,
        "SLEW": limiter._step,
        "REST": limiter._last,
        "SAFE": limiter._safe,
        "ZERO": [servo.zero_us for servo in maps],
        "SCALE": [servo._scale for servo in maps],
        "LEAST": [servo.low_us for servo in maps],
        "MOST": [servo.high_us for servo in maps],
    }
    pieces = ["from array import array\nimport microbit"]
    pieces += [f"{name}={_literal(value)}" for name, value in constants.items()]
    return [*pieces, *_table(shape.angles)]


def _literal(value: int | Sequence[int | None]) -> str:
    if isinstance(value, int):
        return str(value)
    if len(value) > 1 and len(set(value)) == 1:
        return f"({value[0]},)*{len(value)}"
    return f"({','.join(map(str, value))},)" if value else "()"


def _table(angles: list[int]) -> list[str]:
    """The gait's table in hexadecimal words, which are the shortest that every angle fits."""
    if max(map(abs, angles)) >= 1 << 15:
        raise UsageError("the gait's table has angles beyond 2 rad, which a micro:bit's does not hold")
    pieces = ["TABLE=array('h')"]
    for start in range(0, len(angles), AT_ONCE):
        words = "".join(f"{angle + 32768:04x}" for angle in angles[start : start + AT_ONCE])
        pieces.append(f"t='{words}'\nfor i in range(0,len(t),4):TABLE.append(int(t[i:i+4],16)-32768)")
    return [*pieces, "del t,i"]


def _definitions() -> list[str]:
    """The program, one piece a definition or line."""
    text = SOURCE.read_text().partition(BELOW)[2]
    return [thin(ast.unparse(_bare(node))) for node in ast.parse(text).body]


def _bare(node: ast.stmt) -> ast.stmt:
    """A definition without its docstring and types, for which the board has no space."""
    if isinstance(node, ast.FunctionDef):
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
        if ast.get_docstring(node):
            del node.body[0]
    return node


def thin(source: str) -> str:
    """The same program with no comment, no blank line, and no space that the language does not need."""
    depth, line, lines = 0, "", []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            depth += 1 if token.type == tokenize.INDENT else -1
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            lines += [line] if line else []
            line = ""
        elif token.type not in LAYOUT:
            line = line or " " * depth
            apart = _wordy(line[-1:]) and _wordy(token.string[0])
            line += " " + token.string if apart else token.string
    return "\n".join(lines)


def _wordy(character: str) -> bool:
    return character.isalnum() or character == "_"
