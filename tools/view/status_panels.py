"""What a view says in words: a vehicle's state, its loop's timing, its failsafe lights, what happened last."""

from __future__ import annotations

import html
import math
from collections import deque
from typing import Any

from caudal.onboard.core.failsafe import ACTIONS
from caudal.onboard.log.reader import Event
from caudal.tools.log.recorded_run import Run, Snapshot
from caudal.tools.view.overlays import immersed
from caudal.tools.view.vehicle import Figure, hull_volume

QUIET = "#c9d2d8"
LIGHTS = {
    "warn": "#f4b740", "slow": "#f29f3d", "hold": "#ee7f33", "surface": "#e8622c",
    "drop": "#e0452a", "neutral": "#d92d20", "disarm": "#b42318",
}  # fmt: skip
NAMES = tuple(ACTIONS)
WINDOW = 200  # ticks of timing that are kept
STYLE = (
    "<style>.cd{font:12.5px/1.45 system-ui,sans-serif;padding:2px 12px 8px}"
    ".cd table{width:100%;border-collapse:collapse}.cd td{padding:1px 0}"
    ".cd td:last-child{text-align:right;font-variant-numeric:tabular-nums}"
    ".cd .u{opacity:.55;padding-left:3px}.cd .row{display:flex;align-items:center;gap:7px;line-height:1.5}"
    ".cd i{display:inline-block;width:10px;height:10px;border-radius:50%;flex:none}"
    ".cd .grid{display:grid;grid-template-columns:1fr 1fr;gap:1px 10px}.cd .chip{display:inline-block;"
    "padding:0 8px;border-radius:9px;color:#fff;font-weight:600;line-height:1.55}</style>"
)


def _page(inside: str) -> str:
    return f'{STYLE}<div class="cd">{inside}</div>'


def _chip(text: str, colour: str, name: str) -> str:
    return f'<span class="chip" data-cd="{name}" style="background:{colour}">{html.escape(text)}</span>'


class StatePanel:
    """Mode, arming, pose and speed; of a swimmer its beat, of others what they push with."""

    def __init__(self, gui: Any, run: Run) -> None:
        self._run = run
        self._handle = gui.add_html(_page("no moment yet"))

    def show(self, snapshot: Snapshot, vehicle: str, figure: Figure, shares: dict[str, float]) -> None:
        run, loop = self._run, f"/{vehicle}/loop"
        rows = []
        for label, field, unit, scale in (
            ("depth", "depth_m", "m", 1.0),
            ("heading", "heading_rad", "°", 180 / math.pi),
            ("roll", "roll_rad", "°", 180 / math.pi),
            ("pitch", "pitch_rad", "°", 180 / math.pi),
            ("speed", "speed_m_s", "m/s", 1.0),
            ("clearance", "clearance_m", "m", 1.0),
        ):
            true = run.value(snapshot, f"/{vehicle}/truth", field)
            believed = run.value(snapshot, f"/{vehicle}/state", f"is_{field}")
            if true is None and believed is None:
                continue
            if label == "clearance" and not math.isfinite(believed if true is None else true):  # type: ignore[arg-type]
                continue  # there is nothing to touch
            if label == "heading":
                true, believed = (
                    None if a is None else math.remainder(a, math.tau) for a in (true, believed)
                )
            rows.append((label, _both(true, believed, scale, unit)))
        for label, field, unit, scale in (
            ("tail-beat asked", "want_frequency_hz", "Hz", 1.0),
            ("amplitude asked", "want_amplitude", "", 1.0),
            ("turn asked", "want_deflection_rad", "°", 180 / math.pi),
        ):
            value = run.value(snapshot, f"/{vehicle}/state", field)
            if run.vehicle.settings["gait"] and value is not None:
                rows.append(
                    (
                        label,
                        f'<span data-cd="{field}">{value * scale:.2f}</span><span class="u">{unit}</span>',
                    )
                )
        volts = run.value(snapshot, f"/{vehicle}/truth", "battery_v")
        if volts is not None:
            rows.append(("battery", f'{volts:.2f}<span class="u">V</span>'))
        if shares:
            rows.append(("immersed", f'{100 * sum(shares.values()):.0f}<span class="u">%</span>'))
        armed = run.value(snapshot, loop, "armed")
        mode = run.mode(snapshot, vehicle)
        action = run.value(snapshot, loop, "action")
        head = ""
        if armed is not None:
            head = _chip("armed", "#1f9d63", "armed") if armed else _chip("disarmed", "#667885", "armed")
        if mode:
            head += " " + _chip(f"mode {mode}", "#1c7ea6", "mode")
        if action:
            name = NAMES[int(action) - 1]
            head += " " + _chip(f"failsafe: {name}", LIGHTS[name], "action")
        lines = "".join(f"<tr><td>{html.escape(a)}</td><td>{b}</td></tr>" for a, b in rows)
        self._handle.content = _page(
            f'<div style="margin:2px 0 6px">{head}</div>'
            f'<div><span data-cd="time">{snapshot.time_s:.2f}</span><span class="u">s</span></div>'
            f"<table>{lines}</table>"
        )


def _both(true: float | None, believed: float | None, scale: float, unit: str) -> str:
    text = f"{(believed if true is None else true) * scale:.2f}"  # type: ignore[operator]
    if true is not None and believed is not None:
        text += f' <span class="u">(believed {believed * scale:.2f})</span>'
    return f'{text}<span class="u">{unit}</span>'


def immersions(
    run: Run, figure: Figure, turns: Any, places: Any, turn: Any, height_m: float
) -> dict[str, float]:
    """Of each hull, its share of the vehicle's volume that is below the surface."""
    tree = run.vehicle.plant.tree
    if tree is None or run.vehicle.plant.model != "tree":
        return {}
    volumes, shares = 0.0, {}
    for body in tree.body:
        if body.hull is not None:
            k = figure.skeleton.index[body.name]
            middle, volume_m3 = hull_volume(body.hull)
            at = places[k] + turns[k] @ middle
            volumes += volume_m3
            shares[body.name] = volume_m3 * immersed(
                body.hull, turn @ turns[k], height_m + float((turn @ at)[2])
            )
    return {name: share / volumes for name, share in shares.items()} if volumes else {}


class TimingPanel:
    """How late ticks begin and what they cost, over those that were seen."""

    def __init__(self, gui: Any, run: Run) -> None:
        self._run = run
        self._handle = gui.add_html(_page(""))
        self._late: deque[float] = deque(maxlen=WINDOW)
        self._cost: deque[float] = deque(maxlen=WINDOW)
        self._vehicle = ""

    def show(self, snapshot: Snapshot, vehicle: str) -> None:
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
        rate_hz = self._run.vehicle.settings["rate_hz"]
        rows = [("tick", f"{tick:.0f} <span class='u'>at {rate_hz} Hz</span>")]
        for label, seen in (("late", self._late), ("cost", self._cost)):
            ordered = sorted(seen)
            p99 = ordered[int(0.99 * (len(ordered) - 1))]
            rows.append((label, f"{seen[-1]:.0f}<span class='u'>µs, p99 {p99:.0f} µs</span>"))
        lines = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows)
        self._handle.content = _page(f"<table>{lines}</table>{_spark(self._cost, 1e6 / rate_hz)}")


def _spark(values: deque[float], period_us: float) -> str:
    top = max(*values, 1.0) if len(values) > 1 else 1.0
    points = " ".join(f"{k * 280 / WINDOW:.1f},{34 - 32 * v / top:.1f}" for k, v in enumerate(values))
    return (
        '<svg viewBox="0 0 280 36" style="width:100%;height:36px"><polyline fill="none" stroke="#1c7ea6" '
        f'stroke-width="1.3" points="{points}"/></svg><div class="u" style="margin-top:-4px">cost of the ticks seen, '
        f"up to {top:.0f} µs; a period is {period_us:.0f} µs</div>"
    )


class LightsPanel:
    """The failsafe table, a light each row: grey is quiet, a colour is active, the redder the stronger."""

    def __init__(self, gui: Any, run: Run) -> None:
        self._run = run
        self._rows = run.vehicle.settings["failsafes"]
        self._handle = gui.add_html(_page(""))
        self._shown: int | None = None

    def show(self, snapshot: Snapshot, vehicle: str) -> None:
        bits = self._run.value(snapshot, f"/{vehicle}/loop", "failsafes")
        if bits is None or int(bits) == self._shown:
            return
        self._shown = int(bits)
        lights = []
        for k, row in enumerate(self._rows):
            active = self._shown >> k & 1
            colour = LIGHTS[row["action"]] if active else QUIET
            glow = f"box-shadow:0 0 6px {colour}" if active else ""
            weight = "font-weight:600" if active else "opacity:.75"
            title = html.escape(f"{row['trigger']}: {row['action']} after {row['delay_s']:g} s")
            lights.append(
                f'<div class="row" title="{title}" data-light="{html.escape(row["name"])}" data-on="{active}">'
                f'<i style="background:{colour};{glow}"></i><span style="{weight}">'
                f"{html.escape(row['name'].replace('_', ' '))}</span></div>"
            )
        self._handle.content = _page(f'<div class="grid">{"".join(lights)}</div>')


class NewsPanel:
    """The last events up to the moment shown."""

    def __init__(self, gui: Any) -> None:
        self._handle = gui.add_html(_page('<span class="u">nothing yet</span>'))
        self._shown: tuple[int, int] = (-1, -1)

    def show(self, events: list[Event], start_ns: int, time_s: float) -> None:
        until_ns = start_ns + round(time_s * 1e9)
        count = sum(event.time_ns <= until_ns for event in events)
        if (count, len(events)) == self._shown:
            return
        self._shown = (count, len(events))
        lines = [
            f'<div><span class="u">{(event.time_ns - start_ns) / 1e9:.2f} s</span> {html.escape(sentence(event))}</div>'
            for event in reversed(events[max(0, count - 6) : count])
        ]
        self._handle.content = _page("".join(lines) or '<span class="u">nothing yet</span>')


def sentence(event: Event) -> str:
    """An event in a few words."""
    details = dict(event.details)
    vehicle = details.pop("vehicle", None) or ", ".join(details.pop("vehicles", []))
    details.pop("tick", None)
    if event.kind == "order":
        values = " ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in details.get("values", ()))
        words = f"order {details.get('kind')} {values}".strip()
        if details.get("refused"):
            words += f" - refused: {details['refused']}"
    else:
        words = " ".join([event.kind, *(str(value) for value in details.values())])
    return f"{words} ({vehicle})" if vehicle else words
