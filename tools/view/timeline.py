"""A recorded run's time line: play, speed, any instant by a slider, and the events as bookmarks."""

from __future__ import annotations

import time
from typing import Any

from caudal.tools.log.recorded_run import RecordedRun
from caudal.tools.view.status_panels import sentence

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4", "8", "16")
BOOKMARKS = 400
SETTLED_S = 0.4


class TimeLine:
    def __init__(self, gui: Any, recorded: RecordedRun, playing: bool = True) -> None:
        self.end_s = recorded.end_s
        self._recorded = recorded
        self._now_s = 0.0
        self._playing = playing
        self._tick_s = time.monotonic()
        self._hand_s = 0.0  # when somebody moved the slider of a line that played
        self._slider = gui.add_slider(
            "Time (s)", min=0.0, max=max(self.end_s, 0.01), step=0.01, initial_value=0.0, marks=self._marks()
        )
        self._told_s = float(self._slider.value)
        self._play = gui.add_button("Pause" if playing else "Play")
        self._pressed = False
        self._play.on_click(lambda _: setattr(self, "_pressed", True))
        self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        self._texts = {}
        for event in recorded.events[:BOOKMARKS]:
            at_s = recorded.seconds(event.time_ns)
            self._texts[f"{at_s:.2f} s: {sentence(event)}"] = at_s
        if self._texts:
            self._book = gui.add_dropdown(
                "Bookmarks", tuple(self._texts), initial_value=next(iter(self._texts))
            )
            self._book.on_update(lambda _: self.go(self._texts[self._book.value]))
            steps = gui.add_button_group("Event", ("previous", "next"))
            steps.on_click(lambda event: self._step(event.target.value == "next"))

    def now_s(self, looked_at: bool = True) -> float:
        """What is to be shown now; time passes meanwhile, if there is anybody to see it."""
        passed_s, self._tick_s = time.monotonic() - self._tick_s, time.monotonic()
        if self._playing and looked_at:
            self._now_s += passed_s * float(self._speed.value)
            if self._now_s >= self.end_s:
                self._now_s = self.end_s
                self.play(False)
        return self._now_s

    def play(self, playing: bool) -> None:
        if playing and self._now_s >= self.end_s:
            self._now_s = 0.0
        self._playing = playing
        self._tick_s = time.monotonic()
        self._play.label = "Pause" if playing else "Play"

    def go(self, time_s: float) -> None:
        self._now_s = min(max(time_s, 0.0), self.end_s)
        self._slider.value = round(self._now_s, 2)
        self._told_s = float(self._slider.value)

    def send(self) -> None:
        """Let the slider show where it is; where a hand has put it, it is from now on.

        That is looked for here: whoever is told of a hand by the page is told later, when this has put the slider back.
        """
        at_s = float(self._slider.value)
        if at_s != self._told_s:
            self._now_s, self._told_s = min(max(at_s, 0.0), self.end_s), at_s
            if self._playing or self._hand_s:
                self._hand_s = time.monotonic()
            self.play(False)
            self._pressed = False
            return
        if self._hand_s and time.monotonic() > self._hand_s + SETTLED_S:
            # What was on its way when a hand moved it has put it back; it takes another value to be sent again.
            self._hand_s = 0.0
            self._slider.value = round(max(self._now_s - 0.01, 0.0), 2)
        self._slider.value = round(self._now_s, 2)
        self._told_s = float(self._slider.value)
        # here, lest a slider moves once more under a hand that has waited for the button's new word
        if self._pressed:
            self._pressed = False
            self.play(not self._playing)

    def _step(self, onwards: bool) -> None:
        times = sorted(self._texts.values())
        if onwards:
            found = [at_s for at_s in times if at_s > self._now_s + 0.005]
            self.go(found[0] if found else self.end_s)
        else:
            found = [at_s for at_s in times if at_s < self._now_s - 0.005]
            self.go(found[-1] if found else 0.0)
        self.play(False)

    def _marks(self) -> tuple[float, ...]:
        """Where something happened: orders are for the list alone."""
        at = {
            round(self._recorded.seconds(event.time_ns), 1)
            for event in self._recorded.events
            if event.kind != "order"
        }
        return tuple(sorted(time_s for time_s in at if 0 <= time_s <= self.end_s))[:60]
