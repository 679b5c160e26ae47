"""Actuators that do not follow: what each does, as its sensor hears it, against what it was told. Portable.

What the gate gave out goes through a lag as slow as the actuator's, and must be met by what is heard to within `off`.
Each tick that it is not counts, and eight that it is take one back: at `found_s` in all the actuator is marked in
`state.not_following`. The mark goes when it has been heard away from where it was stuck, and where it should be: an
actuator that stands still is only ever met by a command that passes. So one that is asked for less than `off` is not
judged, neither way; nor is one that is limp or not heard.

Integers, in counts of a command, and nothing allocated; thrusters go by their turns (onboard/core/rpm_monitor.py).
"""

import math

from caudal.hal.core.build import UNITS
from caudal.hal.core.fixed_point import q20_to_q14, to_q14

_BACK = 8  # ticks that take one back
_TRUST = 4  # this part of found_s it has to follow, away from where it was stuck, to be trusted again


class Observer:
    """One actuator. `marked`: it does not follow."""

    def __init__(self, index, sensor, actuator, settings, rate_hz):
        self.index = index
        self.sensor = sensor
        self.marked = False
        self._stays = actuator.map.stays
        self._alpha = int((1 - math.exp(-1 / (rate_hz * max(settings["lag_s"], 1e-4)))) * 1024 + 0.5)
        self._off = to_q14(settings["off_" + UNITS[settings["map"]]])
        self._away = self._off * 3 // 2
        found = max(int(settings["found_s"] * rate_hz + 0.5), 1)
        self._most = found * _BACK
        self._trust = max(found // _TRUST, 1)
        self._should = 0  # do by now
        self._known = False  # it was limp, or has not been heard yet
        self._count = 0
        self._since = 0  # ticks, since it was last heard
        self._stuck = 0  # where it was when it was marked
        self._met = 0  # ticks, away from there

    def heard(self, board):
        """What the sensor says of it, in counts of its command; None: nothing new."""
        return q20_to_q14(board.q20_reading(self.sensor)) if board.age[self.sensor] == 0 else None

    def step(self, board, told):
        heard = self.heard(board)
        if told is None:
            if self._stays:
                self._known = False
                return
            told = 0
        if not self._known:
            if heard is None:
                return
            self._known = True
            self._should = self.first(heard)
            self._since = 0
        # a large difference is cut before it is multiplied: pascals are large numbers
        gap = told - self._should
        self._should += (gap * self._alpha) >> 10 if -(1 << 19) < gap < 1 << 19 else (gap >> 10) * self._alpha
        self._since += 1
        if heard is not None:
            self._judge(heard)
            self._since = 0

    def first(self, heard):
        """Where it is taken to begin."""
        return heard

    def gap(self, heard):
        """By how much it is not where it should be."""
        return heard - self._should

    def _judge(self, heard):
        if not -self._off <= self.gap(heard) <= self._off:
            self._met = 0
            self._count += _BACK * self._since
            if self._count >= self._most:
                self._count = self._most
                if not self.marked:
                    self.marked = True
                    self._stuck = heard
            return
        self._count = max(self._count - self._since, 0)
        if self.marked and not -self._away <= heard - self._stuck <= self._away:
            self._met += self._since
            if self._met >= self._trust:
                self.marked = False
                self._count = self._met = 0


class Observe:
    """All of them, once a tick, behind the sensors and before the failsafe table is looked at."""

    def __init__(self, observers):
        self.observers = observers

    def step(self, state):
        for observer in self.observers:
            observer.step(state.board, state.outputs[observer.index])
            state.not_following[observer.index] = observer.marked


def build_observe(settings, board):
    """Of every actuator that somebody hears; and what asks after thrusters that are dead, or None."""
    rate_hz = settings["rate_hz"]
    observers = []  # type: list[Observer]
    thrusters = []
    probe = None
    for index, channel in enumerate(settings["actuators"]):
        if channel["feedback"]:
            given = index, board.sensor(channel["feedback"]), board.actuators[index], channel, rate_hz
            if channel["map"] == "thruster":
                from caudal.onboard.core.rpm_monitor import Probe, TurnsObserver

                thrusters.append(TurnsObserver(*given))
                observers.append(thrusters[-1])
                probe = Probe(thrusters, rate_hz)
            else:
                observers.append(Observer(*given))
    return Observe(observers), probe
