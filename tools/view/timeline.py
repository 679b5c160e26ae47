"""Timeline of a recorded run: play, speed, a slider for any instant, and the events as bookmarks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from caudal.tools.log.recorded_run import RecordedRun
from caudal.tools.view.handles import set_value
from caudal.tools.view.status_panels import sentence

if TYPE_CHECKING:
    from viser import GuiApi

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4", "8", "16")
BOOKMARKS = 400
SETTLED_S = 0.4


class Timeline:
    """The controls that choose the instant to show."""

    def __init__(self, gui: GuiApi, recorded: RecordedRun, playing: bool = True) -> None:
        self.end_s = recorded.end_s
        self._recorded = recorded
        self._now_s = 0.0
        self._playing = playing
        self._tick_s = time.monotonic()
        self._moved_s = 0.0  # when a user moved the slider while it played
        self._slider = gui.add_slider(
            "Time (s)", min=0.0, max=max(self.end_s, 0.01), step=0.01, initial_value=0.0, marks=self._marks()
        )
        self._shown_s = float(self._slider.value)
        self._play = gui.add_button("Pause" if playing else "Play")
        self._pressed = False
        self._play.on_click(lambda _: setattr(self, "_pressed", True))
        self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        self._bookmarks = {}
        for event in recorded.events[:BOOKMARKS]:
            at_s = recorded.seconds(event.time_ns)
            self._bookmarks[f"{at_s:.2f} s: {sentence(event)}"] = at_s
        if self._bookmarks:
            texts = tuple(self._bookmarks)
            bookmarks = gui.add_dropdown("Bookmarks", texts, initial_value=texts[0])
            bookmarks.on_update(lambda _: self.go(self._bookmarks[bookmarks.value]))
            steps = gui.add_button_group("Event", ("previous", "next"))
            steps.on_click(lambda event: self._step(event.target.value == "next"))

    def now_s(self, viewed: bool = True) -> float:
        """Returns the instant to show, s; it advances only while a browser is connected."""
        passed_s, self._tick_s = time.monotonic() - self._tick_s, time.monotonic()
        if self._playing and viewed:
            self._now_s += passed_s * float(self._speed.value)
            if self._now_s >= self.end_s:
                self._now_s = self.end_s
                self.play(False)
        return self._now_s

    def play(self, playing: bool) -> None:
        """Plays or pauses; at the end, play starts again from the beginning."""
        if playing and self._now_s >= self.end_s:
            self._now_s = 0.0
        self._playing = playing
        self._tick_s = time.monotonic()
        self._play.label = "Pause" if playing else "Play"

    def go(self, time_s: float) -> None:
        """Goes to an instant."""
        self._now_s = min(max(time_s, 0.0), self.end_s)
        self._show()

    def update(self) -> None:
        """Moves the slider to the current instant, or takes over the instant to which a user has moved it.

        The slider is read here because the page calls back later, when this method has already moved it back.
        """
        at_s = float(self._slider.value)
        if at_s != self._shown_s:
            self._now_s, self._shown_s = min(max(at_s, 0.0), self.end_s), at_s
            if self._playing or self._moved_s:
                self._moved_s = time.monotonic()
            self.play(False)
            self._pressed = False
            return
        if self._moved_s and time.monotonic() > self._moved_s + SETTLED_S:
            # Updates under way when the user moved the slider have moved it back; only a new value is sent again.
            self._moved_s = 0.0
            set_value(self._slider, round(max(self._now_s - 0.01, 0.0), 2))
        self._show()
        # after the slider, so that it does not move once more when the button already says Play
        if self._pressed:
            self._pressed = False
            self.play(not self._playing)

    def _show(self) -> None:
        set_value(self._slider, round(self._now_s, 2))
        self._shown_s = float(self._slider.value)

    def _step(self, onwards: bool) -> None:
        times = sorted(self._bookmarks.values())
        if onwards:
            found = [at_s for at_s in times if at_s > self._now_s + 0.005]
            self.go(found[0] if found else self.end_s)
        else:
            found = [at_s for at_s in times if at_s < self._now_s - 0.005]
            self.go(found[-1] if found else 0.0)
        self.play(False)

    def _marks(self) -> tuple[float, ...]:
        """Returns the instants of events, s; commands are only in the list."""
        at = {
            round(self._recorded.seconds(event.time_ns), 1)
            for event in self._recorded.events
            if event.kind != "command"
        }
        return tuple(sorted(time_s for time_s in at if 0 <= time_s <= self.end_s))[:60]
