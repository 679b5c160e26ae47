"""Status panels of a view: state of the vehicle, loop timing, failsafe lights, recent events."""

from __future__ import annotations

import html
import math
from collections import deque
from typing import TYPE_CHECKING

from caudal.onboard.core.failsafe import ACTIONS
from caudal.onboard.log.reader import Event
from caudal.tools.log.recorded_run import Run, Snapshot

if TYPE_CHECKING:
    from viser import GuiApi

QUIET = "#c9d2d8"
LIGHTS = {
    "warn": "#f4b740", "slow": "#f29f3d", "hold": "#ee7f33", "surface": "#e8622c",
    "drop": "#e0452a", "neutral": "#d92d20", "disarm": "#b42318",
}  # fmt: skip
NAMES = tuple(ACTIONS)
WINDOW = 200  # ticks of timing that are shown
DEG = 180 / math.pi
STYLE = (
    "<style>.cd{font:12.5px/1.45 system-ui,sans-serif;padding:2px 12px 8px}"
    ".cd table{width:100%;border-collapse:collapse}.cd td{padding:1px 0}"
    ".cd td:last-child{text-align:right;font-variant-numeric:tabular-nums}"
    ".cd .u{opacity:.55;padding-left:3px}.cd .row{display:flex;align-items:center;gap:7px;line-height:1.5}"
    ".cd i{display:inline-block;width:10px;height:10px;border-radius:50%;flex:none}"
    ".cd .grid{display:grid;grid-template-columns:1fr 1fr;gap:1px 10px}.cd .chip{display:inline-block;"
    "padding:0 8px;border-radius:9px;color:#fff;font-weight:600;line-height:1.55}</style>"
)
NO_EVENTS = '<span class="u">no events yet</span>'


def _page(inside: str) -> str:
    return f'{STYLE}<div class="cd">{inside}</div>'


def _chip(text: str, colour: str, name: str) -> str:
    return f'<span class="chip" data-cd="{name}" style="background:{colour}">{html.escape(text)}</span>'


def _table(rows: list[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><td>{html.escape(label)}</td><td>{value}</td></tr>" for label, value in rows)
    return f"<table>{lines}</table>"


class StatePanel:
    """Mode, arming, pose and speed of a vehicle, and the set-points of its gait."""

    def __init__(self, gui: GuiApi, run: Run) -> None:
        self._run = run
        self._handle = gui.add_html(_page("no data yet"))

    def show(self, snapshot: Snapshot, vehicle: str, immersed: float | None) -> None:
        """Shows the state of a snapshot; `immersed` is the share of the vehicle's volume below the surface."""
        time_s = f'<div><span data-cd="time">{snapshot.time_s:.2f}</span><span class="u">s</span></div>'
        rows = [*self._motion(snapshot, vehicle), *self._set_points(snapshot, vehicle)]
        volts = self._run.value(snapshot, f"/{vehicle}/truth", "battery_v")
        if volts is not None:
            rows.append(("battery", f'{volts:.2f}<span class="u">V</span>'))
        if immersed is not None:
            rows.append(("immersed", f'{100 * immersed:.0f}<span class="u">%</span>'))
        chips = " ".join(self._chips(snapshot, vehicle))
        self._handle.content = _page(f'<div style="margin:2px 0 6px">{chips}</div>{time_s}{_table(rows)}')

    def _motion(self, snapshot: Snapshot, vehicle: str) -> list[tuple[str, str]]:
        rows = []
        for label, field, unit, scale in (
            ("depth", "depth_m", "m", 1.0),
            ("heading", "heading_rad", "°", DEG),
            ("roll", "roll_rad", "°", DEG),
            ("pitch", "pitch_rad", "°", DEG),
            ("speed", "speed_m_s", "m/s", 1.0),
            ("clearance", "clearance_m", "m", 1.0),
        ):
            true = self._run.value(snapshot, f"/{vehicle}/truth", field)
            estimate = self._run.value(snapshot, f"/{vehicle}/state", f"is_{field}")
            if label == "heading":
                true, estimate = (
                    None if a is None else math.remainder(a, math.tau) for a in (true, estimate)
                )
            value = estimate if true is None else true
            if value is None or (label == "clearance" and not math.isfinite(value)):
                continue  # a clearance is infinite where there is nothing to collide with
            text = f"{value * scale:.2f}"
            if true is not None and estimate is not None:
                text += f' <span class="u">(estimate {estimate * scale:.2f})</span>'
            rows.append((label, f'{text}<span class="u">{unit}</span>'))
        return rows

    def _set_points(self, snapshot: Snapshot, vehicle: str) -> list[tuple[str, str]]:
        rows = []
        for label, field, unit, scale in (
            ("tail-beat set-point", "setpoint_frequency_hz", "Hz", 1.0),
            ("amplitude set-point", "setpoint_amplitude", "", 1.0),
            ("turn set-point", "setpoint_deflection_rad", "°", DEG),
        ):
            value = self._run.value(snapshot, f"/{vehicle}/state", field)
            if self._run.vehicle.settings.gait and value is not None:
                number = f'<span data-cd="{field}">{value * scale:.2f}</span>'
                rows.append((label, f'{number}<span class="u">{unit}</span>'))
        return rows

    def _chips(self, snapshot: Snapshot, vehicle: str) -> list[str]:
        loop = f"/{vehicle}/loop"
        armed = self._run.value(snapshot, loop, "armed")
        mode = self._run.mode(snapshot, vehicle)
        action = self._run.value(snapshot, loop, "action")
        chips = []
        if armed is not None:
            text, colour = ("armed", "#1f9d63") if armed else ("disarmed", "#667885")
            chips.append(_chip(text, colour, "armed"))
        if mode:
            chips.append(_chip(f"mode {mode}", "#1c7ea6", "mode"))
        if action:
            name = NAMES[int(action) - 1]
            chips.append(_chip(f"failsafe: {name}", LIGHTS[name], "action"))
        return chips


class TimingPanel:
    """Lateness and cost of the ticks that were received."""

    def __init__(self, gui: GuiApi, run: Run) -> None:
        self._run = run
        self._handle = gui.add_html(_page(""))
        self._late: deque[float] = deque(maxlen=WINDOW)
        self._cost: deque[float] = deque(maxlen=WINDOW)
        self._vehicle = ""

    def show(self, snapshot: Snapshot, vehicle: str) -> None:
        """Adds the tick of a snapshot and shows the latest ticks."""
        if vehicle != self._vehicle:
            self._late.clear()
            self._cost.clear()
            self._vehicle = vehicle
        late, cost, tick = (
            self._run.value(snapshot, f"/{vehicle}/loop", field) for field in ("late_us", "cost_us", "tick")
        )
        if late is None or cost is None or tick is None:
            return
        self._late.append(late)
        self._cost.append(cost)
        rate_hz = self._run.vehicle.settings.rate_hz
        rows = [("tick", f"{tick:.0f} <span class='u'>at {rate_hz} Hz</span>")]
        for label, times_us in (("late", self._late), ("cost", self._cost)):
            ordered = sorted(times_us)
            p99 = ordered[int(0.99 * (len(ordered) - 1))]
            rows.append((label, f"{times_us[-1]:.0f}<span class='u'>µs, p99 {p99:.0f} µs</span>"))
        self._handle.content = _page(_table(rows) + _sparkline(self._cost, 1e6 / rate_hz))


def _sparkline(values: deque[float], period_us: float) -> str:
    top = max(*values, 1.0) if len(values) > 1 else 1.0
    points = " ".join(f"{k * 280 / WINDOW:.1f},{34 - 32 * v / top:.1f}" for k, v in enumerate(values))
    return (
        '<svg viewBox="0 0 280 36" style="width:100%;height:36px"><polyline fill="none" stroke="#1c7ea6" '
        f'stroke-width="1.3" points="{points}"/></svg><div class="u" style="margin-top:-4px">cost of the latest ticks, '
        f"up to {top:.0f} µs; the period is {period_us:.0f} µs</div>"
    )


class FailsafePanel:
    """The failsafe table, a light per rule: grey is inactive, a colour is active, redder is a stronger action."""

    def __init__(self, gui: GuiApi, run: Run) -> None:
        self._run = run
        self._rules = run.vehicle.settings.failsafes
        self._handle = gui.add_html(_page(""))
        self._shown: int | None = None

    def show(self, snapshot: Snapshot, vehicle: str) -> None:
        """Shows which rules are active in a snapshot."""
        bits = self._run.value(snapshot, f"/{vehicle}/loop", "failsafes")
        if bits is None or int(bits) == self._shown:
            return
        self._shown = int(bits)
        lights = []
        for k, rule in enumerate(self._rules):
            active = self._shown >> k & 1
            colour = LIGHTS[rule.action] if active else QUIET
            glow = f"box-shadow:0 0 6px {colour}" if active else ""
            weight = "font-weight:600" if active else "opacity:.75"
            title = html.escape(f"{rule.trigger}: {rule.action} after {rule.delay_s:g} s")
            lights.append(
                f'<div class="row" title="{title}" data-light="{html.escape(rule.name)}" data-on="{active}">'
                f'<i style="background:{colour};{glow}"></i><span style="{weight}">'
                f"{html.escape(rule.name.replace('_', ' '))}</span></div>"
            )
        self._handle.content = _page(f'<div class="grid">{"".join(lights)}</div>')


class EventsPanel:
    """The last events up to the instant shown."""

    def __init__(self, gui: GuiApi) -> None:
        self._handle = gui.add_html(_page(NO_EVENTS))
        self._shown: tuple[int, int] = (-1, -1)

    def show(self, events: list[Event], start_ns: int, time_s: float) -> None:
        """Shows the last events up to an instant (s since start_ns)."""
        until_ns = start_ns + round(time_s * 1e9)
        count = sum(event.time_ns <= until_ns for event in events)
        if (count, len(events)) == self._shown:
            return
        self._shown = (count, len(events))
        lines = [
            f'<div><span class="u">{(event.time_ns - start_ns) / 1e9:.2f} s</span> {html.escape(sentence(event))}</div>'
            for event in reversed(events[max(0, count - 6) : count])
        ]
        self._handle.content = _page("".join(lines) or NO_EVENTS)


def sentence(event: Event) -> str:
    """Describes an event in a few words."""
    details = dict(event.details)
    vehicle = details.pop("vehicle", None) or ", ".join(details.pop("vehicles", []))
    details.pop("tick", None)
    if event.kind == "command":
        values = " ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in details.get("values", ()))
        words = f"{event.kind} {details.get('kind')} {values}".strip()
        if details.get("refused"):
            words += f" - rejected: {details['refused']}"
    else:
        words = " ".join([event.kind, *(str(value) for value in details.values())])
    return f"{words} ({vehicle})" if vehicle else words
