"""The update cycle: compare with the task, detect, decide, and say what motion is wanted next. Portable."""


class AvoidanceGuidance:
    def __init__(self, task, detector, decider, recoil):
        self.task = task
        self._detector = detector
        self._decider = decider
        self._recoil = recoil

    def step(self, state):
        self.task.step(state)
        points = self._detector.step(state)
        self._decider.step(state, points, self.task.speed_m_s, self.task.turn_rad_s)
        self._recoil.step(state)


class BumperRecoil:
    """The nose has touched something: back off for a while, whatever else was decided.

    `watch` looks at the bumper every tick, since a touch may be shorter than a guidance step.
    """

    def __init__(self, settings, board, guide_hz):
        self._bumper = board.sensor(settings["bumper"]) if settings["bumper"] else None
        self._steps = int(settings["recoil_s"] * guide_hz + 0.5)
        self._brake_m_s2 = settings["recoil_m_s2"]
        self._left = 0

    def watch(self, state):
        if self._bumper is not None and state.board.reading(self._bumper):
            self._left = self._steps

    def step(self, state):
        state.setpoint.reverse = self._left > 0
        if self._left:
            self._left -= 1
            state.setpoint.acceleration_m_s2 = -self._brake_m_s2
            state.setpoint.turn_rate_rad_s = 0.0
