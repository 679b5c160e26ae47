"""What one vehicle knows, wants and asks, in one place, allocated once.

The loop hands it from stage to stage: estimators fill `estimate`, guidance fills `want`, the controller fills
`commands` (what it asks, fixed-point SI), the safety gate fills `outputs` (what the board is told). Portable.
"""

from caudal.hal.core.board import NEVER
from caudal.hal.core.fixed_point import to_q20_or_none
from caudal.onboard.core.modes import AUTO


class Estimate:
    """What the vehicle believes of itself; None where it does not know."""

    FIELDS = (
        "heading_rad", "turn_rate_rad_s", "speed_m_s", "x_m", "y_m", "depth_m",
        "roll_rad", "pitch_rad", "roll_rate_rad_s", "pitch_rate_rad_s", "sway_m_s", "heave_m_s",
        "x_nis", "y_nis", "depth_nis", "heading_nis",
    )  # fmt: skip

    def __init__(self):
        self.heading_rad = None
        self.turn_rate_rad_s = None
        self.speed_m_s = None
        self.x_m = None
        self.y_m = None
        self.depth_m = None
        self.roll_rad = None  # right side down
        self.pitch_rad = None  # nose down
        self.roll_rate_rad_s = None
        self.pitch_rate_rad_s = None
        self.sway_m_s = None  # to port
        self.heave_m_s = None  # up
        self.x_nis = None  # normalised innovations squared of this tick's readings (estimate/kalman.py)
        self.y_nis = None
        self.depth_nis = None
        self.heading_nis = None

    def q20(self, field):
        """One of the fields as an integer, in 2**-20 of its unit."""
        return to_q20_or_none(getattr(self, field))


class Setpoint:
    """What guidance wants next: the motion, and the tail settings the controller makes of it."""

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

    def __init__(self):
        self.acceleration_m_s2 = 0.0
        self.turn_rate_rad_s = 0.0
        self.reverse = False  # may the wave run from tail to head
        self.frequency_hz = 0.0
        self.amplitude = 0.0
        self.deflection_rad = 0.0
        self.beat = None  # these three in fixed point, where they were known beforehand
        self.depth_m = None  # None: where it is when it is asked first
        self.depth_q20 = None  # the same in 2**-20 m, once somebody has made it
        self.x_m = None  # of vehicles that hold any pose
        self.y_m = None
        self.heading_rad = None
        self.roll_rad = 0.0
        self.pitch_rad = 0.0
        self.pose_rate = [0.0] * 4  # of x, y, depth and heading
        self.pose_acceleration = [0.0] * 4


class State:
    def __init__(self, board, period_us):
        self.board = board
        self.period_us = period_us
        self.tick = 0
        self.late_us = 0
        self.armed = False
        self.free = False  # did the gate let the controller's commands through last tick
        self.bad_command = False  # did the controller ask for something that is no number last tick
        self.action = 0  # what the failsafe table says (onboard/core/failsafe.py)
        self.active = 0  # its rows, one bit each
        self.asked = AUTO  # the mode that was asked for...
        self.mode = AUTO  # ...and the one in effect
        self.sticks = [0.0] * 4  # a pilot's: ahead, to port, up, turn; shares
        self.sticks_age = NEVER  # in ticks
        self.station_age = NEVER  # since a ground station was heard
        self.host = {}  # what the computer knows of itself, by word
        self.place = None  # to go to: x, y, depth, heading; None where it stays as it is
        self.mission = []  # way-points: x, y, depth, seconds to stay; between them names of modes to go into
        self.mission_at = 0  # the one it goes to
        self.mission_passed = 0  # how many it has done so far, of this mission and all before it
        self.mission_asks = None  # the mode that it wants from the next tick on
        self.not_following = [False] * len(board.actuators)  # actuators found not to do what they are told
        self.estimate = Estimate()
        self.setpoint = Setpoint()
        self.commands = [0] * len(board.actuators)
        self.outputs = [None] * len(board.actuators)
