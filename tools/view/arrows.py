"""Arrows in the scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viser import ArrowsHandle, SceneApi

HEAD = 5.0  # length of an arrow's head, by the radius of its shaft


class Arrows:
    """A group of arrows; the browser redraws them in place while their number stays the same."""

    def __init__(self, scene: SceneApi, name: str, shaft_m: float) -> None:
        self._scene = scene
        self._name = name
        self.shaft_m = shaft_m
        self.handle: ArrowsHandle | None = None

    def show(
        self, arrows: Sequence[tuple[np.ndarray, np.ndarray]], colours: Sequence[tuple[int, int, int]]
    ) -> None:
        """Shows arrows (start, end), one colour each; hides the group if there are none."""
        if not arrows:
            if self.handle:
                self.handle.visible = False
            return
        points, colors = np.array(arrows, dtype=np.float32), np.array(colours, dtype=np.uint8)
        if self.handle is not None and len(self.handle.points) == len(points):
            self.handle.points, self.handle.colors, self.handle.visible = points, colors, True
            return
        self.handle = self._scene.add_arrows(
            self._name, points, colors,
            shaft_radius=self.shaft_m, head_radius=2.4 * self.shaft_m, head_length=HEAD * self.shaft_m,
        )  # fmt: skip
