"""Aims in order of priority: the controller of a chain of modules and soft joints. Needs numpy.

Every tick: the model at what is believed now; the rows of aims and barriers; the solver's thrusts, within what
thrusters can give and reach in a tick; pressures for the wanted shape (posture.py), which are slow and weak and so
count in the model as they are; and the acceleration that all this should lead to, for the estimator's next step.
`fields` and `values` are the account of a tick, for the black box.
"""

import math

import numpy as np

from caudal.hal.core.fixed_point import ONE, fixed
from caudal.onboard.chain.aims import FRAME_AIMS, PoseAim, ShapeAim, SpeedAim, TurnAim
from caudal.onboard.chain.barriers import Clearance, JointLimits, stacked
from caudal.onboard.chain.lead import Governor, PlaceLead, Rows, TurnLead, down, euler_angles
from caudal.onboard.chain.plan import Plan
from caudal.onboard.chain.posture import Posture
from caudal.onboard.chain.run import RunAim, thrust_rows
from caudal.onboard.chain.shape_hold import Hold
from caudal.onboard.core.modes import AUTO

GOVERNOR_PER_S = 3.0
PLAN_LESS_DEG, PLAN_LESS_CLEAR_DEG = (
    3.0,
    6.0,
)  # than the limit of a bend, for a plan; with obstacles to go round
LEFT_TICKS = 25  # a limit that has not pressed for so long is not active any more
# Shortfall of an aim up to which its errors are summed up: a share of what it asks, and m/s2.
MET, MET_LEAST = 0.1, 0.01
HOLD_DAMPING = 0.02
BRAKE_M_S2 = 0.15
ONE_NUMBER = SpeedAim, RunAim  # aims whose lead is one


class Priority:
    def __init__(self, settings, scenario, board, chain, thrusters, estimator, straight):
        """straight: of a scenario with a run among its aims, else None."""
        control, rate_hz = settings["control"], settings["rate_hz"]
        self._dt = 1 / rate_hz
        self._seen = estimator
        self.chain, self._thrusters, self._straight = chain, thrusters, straight
        self._valves = [board.actuator(name) for soft in control["soft"] for name in soft["chambers"]]
        self.solver = _solver(control["solver"], thrusters.scale)
        most_pa = min(board.actuators[i].high / ONE for i in self._valves)
        self.posture = Posture(self.chain.chambers, control["posture"], most_pa, rate_hz)
        self.clearance = Clearance(self.chain, control["clearance"], scenario["obstacles"])
        self._bend_max_deg = scenario["bend_max_deg"] or control["limits"]["bend_max_deg"]
        self.limits = JointLimits(self.chain, control["limits"], self._bend_max_deg)
        self.aims = [self._aim(aim) for aim in scenario["aims"]]
        self.plan = self._planned(scenario["aims"], control)
        self.shape = next((aim for aim in self.aims if isinstance(aim, ShapeAim)), None)
        self._served = self._order(scenario["aims"])
        self._hold = Hold(control, thrusters, self._dt)
        self._stays = False
        self._time_s = None
        self._left = np.full(len(control["soft"]) + len(scenario["obstacles"]), LEFT_TICKS)
        self.fields = self._fields(control, scenario)
        self.values = [None] * len(self.fields)

    def _aim(self, settings):
        kind, rows = settings["kind"], settings["rows"]
        if kind == "run":
            return RunAim(settings, Rows(rows), self._dt, self._straight, self._thrusters)
        if kind == "shape":
            return ShapeAim(settings, Rows(rows), self._dt)
        return FRAME_AIMS[kind](settings, self._path(kind, rows), self._dt, *self._frame(settings))

    def _path(self, kind, rows):
        """The lead of a frame."""
        if kind == "turn":
            return TurnLead(rows)
        if kind == "speed":
            return Rows(rows)
        return PlaceLead(rows, self._governor() if kind in ("pose", "position") else None)

    def _frame(self, settings):
        """(module, place in its frame): its front end, the base's rear end, or where the aim says."""
        base = settings["frame"] == "base"
        module = 0 if base else self.chain.modules.index(settings["frame"])
        return module, settings["at_m"] or [0.0 if base else self.chain.lengths_m[module], 0.0, 0.0]

    def _governor(self):
        clear = self.clearance
        if not len(clear.radii):
            return None
        return Governor(clear.centres, clear.radii, clear.upright, GOVERNOR_PER_S, self._dt)

    def _planned(self, aims, control):
        """A plan of the shape, for aims that are the front end, a place of the base, and a shape left open."""
        kinds = [(aim["kind"], aim.get("frame")) for aim in aims[:3]]
        front = self.chain.modules[-1]
        if any(aim.get("at_m") for aim in aims[:2]):
            return None
        if kinds[1:] != [("position", "base"), ("shape", None)] or aims[2]["rows"] or not aims[0]["rows"]:
            return None
        if kinds[0] not in (("pose", front), ("position", front)):
            return None
        less_deg = PLAN_LESS_CLEAR_DEG if len(self.clearance.radii) else PLAN_LESS_DEG
        bend_max = math.radians(self._bend_max_deg - less_deg)
        rows = aims[0]["rows"], aims[1]["rows"]
        return Plan(self.chain, *rows, self.clearance, bend_max, control["posture"]["ease_pa"], self._dt)

    def _order(self, aims):
        """Who is served first. A plan has weighed base against shape already: with the hand's pose, its shape puts the
        base where it can be. A hand whose turn is free has it from the plan, as an aim of its own."""
        if not self.plan:
            return self.aims
        hand, base, shape, *others = self.aims
        self._turn = None
        if not isinstance(hand, PoseAim):
            turn = {**aims[0], "name": "turn"}
            self._turn = TurnAim(turn, TurnLead([]), self._dt, *self._frame(turn))
        return [aim for aim in (hand, self._turn, shape, base) if aim] + others

    def step(self, state):
        seen = self._seen
        if not seen.known:
            self._stand_by(state)
            return
        chain = self.chain
        chain.update(seen.turn, seen.velocity, seen.q, seen.qd, seen.pressures)
        self._lead(state.free, state.mode != AUTO)
        levels = [(*aim.rows(chain, seen.place), aim.damping) for aim in self._served]
        whole = self._whole()
        if whole:
            levels = self._held()
        barriers = stacked([self.limits.rows(chain), self.clearance.rows(chain, seen.place)])
        thrust = self.solver.solve(chain, levels, barriers, *self._thrusters.reach())
        learners = [self._hold] if whole else self._served
        for one, (_, asked, _), missed in zip(learners, levels, self.solver.missed, strict=False):
            one.missed = missed
            one.learn(state.free and missed <= MET * float(np.linalg.norm(asked)) + MET_LEAST)
        self._served[0].missed = self.solver.missed[0]
        for channel, value in zip(self._thrusters.channels, thrust.tolist(), strict=True):
            state.commands[channel] = fixed(value)
        self._press(state)
        self._expect()
        self._note(barriers)

    def _whole(self):
        """Is the plan held as one state (hold.py)? Aims that are met one by one, to the letter, leave a freedom to
        itself. It runs away where a module that the hand hangs on has lost a thruster (the base's own can be done
        without), and where two modules in a line, or nearly, turn no joint by pushing against each other: a hand whose
        turn is free goes through such shapes."""
        if self.plan is None or self._time_s is None:
            return False
        lost = self._thrusters.lost & (np.array(self.chain.thruster_modules) > 0)
        return self._turn is not None or bool(lost.any())

    def _held(self):
        """Levels of the plan as one state: the thrusts that hold it, each as near as limits let it be."""
        hand = self.aims[0].lead
        turn = self._turn.lead.turn if self._turn else hand.turn
        base, base_turn, slides = self.plan.stands(hand.place, turn)
        chain, place = self.chain, self._seen.place
        off = hand.place - self.aims[0].stands(chain, place)
        thrust = self._hold.thrust(chain, place, off, base, base_turn, slides, self.plan.bends())
        rows, there = thrust_rows(chain)
        return [(rows, thrust + there, HOLD_DAMPING)]

    def _stand_by(self, state):
        for channel in (*self._thrusters.channels, *self._valves):
            state.commands[channel] = 0

    def _lead(self, free, stay):
        """Time runs while the gate lets commands through; after it did not, aims begin anew, where the chain is. So
        they do when it is to stay, and when that is over. A speed is brought to nothing first."""
        held, self._stays = self._stays, stay
        if stay and held and self._time_s is not None:
            for aim in self.aims:
                if isinstance(aim, ONE_NUMBER):
                    aim.lead.slow(BRAKE_M_S2, self._dt)
            return
        if not free or self._time_s is None or stay != held:
            for aim in self._served:
                aim.start(self.chain, self._seen.place)
                aim.forget()
            if self.plan:
                self.plan.start(self._shape_now())
                self._hold.start()
                self._last_base = self.aims[1].lead.place
            self._time_s = 0.0 if free else None
            return
        self._time_s += self._dt
        for aim in self.aims:
            aim.lead.step(self._time_s)
        if self.plan:
            self._follow_plan()

    def _shape_now(self):
        """As the plan counts it: the bends, and the hand's heading if that is free."""
        chain = self.chain
        bends = chain.q[chain.bends]
        if isinstance(self.aims[0], PoseAim):
            return bends
        turn, _ = self.aims[0].frame(chain)
        return np.append(bends, euler_angles(chain.turn @ turn)[2])

    def _follow_plan(self):
        """Lead base and shape by the plan instead of by the wish."""
        hand, base, shape = (aim.lead for aim in self.aims[:3])
        turn = None if self._turn else hand.turn
        self.plan.step(self._time_s, hand.place, turn, base.place)
        base.place = self.plan.base(hand.place, turn)
        if self._turn:
            self._turn.lead.turn, self._turn.lead.spin = self.plan.heading()
        base.speed, base.push = (base.place - self._last_base) / self._dt, np.zeros(3)
        self._last_base = base.place
        shape.value, shape.rate, shape.push = self.plan.bend_vectors()

    def _press(self, state):
        told = _told(state.outputs, self._valves).tolist()
        lost = [state.not_following[c] for c in self._valves]
        asked = self.posture.pressures(self._rest(), told, self._seen.pressures.tolist(), lost)
        for channel, value in zip(self._valves, asked, strict=True):
            state.commands[channel] = fixed(value)

    def _rest(self):
        """Bend vectors at which the joints would rest without load."""
        if isinstance(self.aims[0], RunAim):
            return self.aims[0].rest
        if self._whole():
            return self._hold.rest
        return (self.shape.lead.value if self.shape else self.chain.bend).tolist()

    def _expect(self):
        """The acceleration of the model under what the actuators give now."""
        chain = self.chain
        given = chain.free_b @ self._thrusters.force
        self._seen.acceleration[chain.free] = np.linalg.solve(chain.free_mass, given - chain.free_load)

    def _fields(self, control, scenario):
        fields = ["clearance_m", "broken"]
        fields += [f"{soft['name']}_limit" for soft in control["soft"]]
        fields += [f"obstacle_{k + 1}" for k in range(len(scenario["obstacles"]))]
        for aim in self.aims:
            fields += [f"{aim.name}_missed", f"{aim.name}_error"]
            fields += [f"{aim.name}_wanted"] if isinstance(aim, ONE_NUMBER) else []
            if isinstance(aim.lead, PlaceLead):
                fields += [
                    f"{aim.name}_{part}_{key}"
                    for part in ("path", "lead")
                    for key in ("x_m", "y_m", "depth_m")
                ]
        return fields

    def _note(self, barriers):
        """The account: which limits are active, and how far each aim is off."""
        whose = barriers.whose[self.solver.binding]
        pressed = np.zeros(len(self._left), dtype=bool)
        pressed[whose[whose >= 0]] = True
        self._left = np.where(pressed, 0, self._left + 1)
        values = [
            self.clearance.least_m,
            self.solver.broken,
            *(self._left < LEFT_TICKS).astype(float).tolist(),
        ]
        for aim in self.aims:
            values += [aim.missed, float(np.linalg.norm(aim.error))]
            values += [float(aim.lead.value[0])] if isinstance(aim, ONE_NUMBER) else []
            if isinstance(aim.lead, PlaceLead):
                values += [*down(aim.lead.path).tolist(), *down(aim.lead.place).tolist()]
        self.values = values


def _told(outputs, channels):
    """What went out last; what is off is 0."""
    return np.array([(outputs[c] or 0) / ONE for c in channels])


def _solver(name, scale):
    if name == "law":
        from caudal.onboard.chain.law import Law

        return Law(scale)
    from caudal.onboard.chain.hierarchy import Hierarchy

    return Hierarchy(scale)
