"""A vehicle's state: estimates, setpoints and commands in one object, allocated once.

The loop passes it from stage to stage: estimators fill `estimate`, guidance fills `setpoint`, the controller fills
`commands` (fixed-point SI), and the output limiter fills `outputs`, which go to the board. Portable.
"""

from caudal.hal.core.board import NEVER
from caudal.hal.core.fixed_point import to_q20_or_none
from caudal.onboard.core.modes import AUTO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caudal.hal.core.board import Board


class Estimate:
    """Estimated motion of the vehicle; None where it is unknown."""

    FIELDS = (
        "heading_rad", "turn_rate_rad_s", "speed_m_s", "x_m", "y_m", "depth_m",
        "roll_rad", "pitch_rad", "roll_rate_rad_s", "pitch_rate_rad_s", "sway_m_s", "heave_m_s",
        "x_nis", "y_nis", "depth_nis", "heading_nis",
    )  # fmt: skip

    def __init__(self) -> None:
        self.heading_rad: float | None = None
        self.turn_rate_rad_s: float | None = None
        self.speed_m_s: float | None = None
        self.x_m: float | None = None
        self.y_m: float | None = None
        self.depth_m: float | None = None
        self.roll_rad: float | None = None  # right side down
        self.pitch_rad: float | None = None  # nose down
        self.roll_rate_rad_s: float | None = None
        self.pitch_rate_rad_s: float | None = None
        self.sway_m_s: float | None = None  # to port
        self.heave_m_s: float | None = None  # up
        self.x_nis: float | None = None  # normalised innovations squared of this tick (estimate/kalman.py)
        self.y_nis: float | None = None
        self.depth_nis: float | None = None
        self.heading_nis: float | None = None

    def q20(self, field: str) -> "int | None":
        """One of the fields as an integer, in 2**-20 of its unit."""
        return to_q20_or_none(getattr(self, field))


class Setpoint:
    """Setpoints of guidance, and the tail settings that the controller makes of them."""

    FIELDS = (
        "acceleration_m_s2",
        "turn_rate_rad_s",
        "frequency_hz",
        "amplitude",
        "deflection_rad",
        "depth_m",
        "x_m",
        "y_m",
        "heading_rad",
        "roll_rad",
        "pitch_rad",
    )

    def __init__(self) -> None:
        self.acceleration_m_s2 = 0.0
        self.turn_rate_rad_s = 0.0
        self.reverse = False  # whether the wave may run from tail to head
        self.frequency_hz = 0.0
        self.amplitude = 0.0
        self.deflection_rad = 0.0
        self.beat_q14: tuple[int, int, int] | None = None  # the same three, if guidance has them ready
        self.depth_m: float | None = None  # None: the depth at which the controller starts
        self.depth_q20: int | None = None  # the same in 2**-20 m, once converted
        self.x_m: float | None = None  # of vehicles that hold any pose
        self.y_m: float | None = None
        self.heading_rad: float | None = None
        self.roll_rad = 0.0
        self.pitch_rad = 0.0
        self.pose_rate = [0.0] * 4  # of x, y, depth and heading
        self.pose_acceleration = [0.0] * 4


class State:
    """All that stages share, of one vehicle."""

    def __init__(self, board: "Board", period_us: int) -> None:
        self.board = board
        self.period_us = period_us
        self.tick = 0
        self.late_us = 0
        self.armed = False
        self.commands_applied = False  # whether the output limiter passed the controller's commands last tick
        self.bad_command = False  # whether one of them was not a number
        self.action = 0  # strongest action of the failsafe table (onboard/core/failsafe.py)
        self.active_rules = 0  # of that table, one bit each
        self.requested_mode = AUTO
        self.mode = AUTO  # the one in effect
        self.manual_input = [0.0] * 4  # ahead, to port, up, turn; shares
        self.manual_input_age = NEVER  # in ticks
        self.station_age = NEVER  # since the last message of a ground station
        self.host: dict[str, bool] = {}  # conditions of the computer, by word
        self.goto_pose: list[float | None] | None = None  # x, y, depth, heading; None: as it is
        self.mission: list[list[float] | str] = []  # waypoints: x, y, depth, seconds to hold; or a mode
        self.mission_index = 0  # of the current item
        self.mission_completed = 0  # items, of this mission and all before it
        self.mission_mode: str | None = None  # the mode that the mission requests for the next tick
        self.not_following = [False] * len(board.actuators)  # actuators that do not follow their commands
        self.estimate = Estimate()
        self.setpoint = Setpoint()
        self.commands: list[int | None] = [0] * len(board.actuators)
        self.outputs: list[int | None] = [None] * len(board.actuators)


def known(*values: "float | None") -> "list[float] | None":
    """The values of an estimate or a setpoint as a vector; None if any of them is unknown."""
    vector = [value for value in values if value is not None]
    return vector if len(vector) == len(values) else None
