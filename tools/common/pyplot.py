"""matplotlib, set up to draw SVG files without a screen."""

from __future__ import annotations

import io
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pyplot() -> ModuleType:
    """Returns matplotlib.pyplot; the same data gives the same SVG file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "caudal"
    import matplotlib.pyplot as plt

    return plt


def as_svg(figure: Figure) -> str:
    """Renders a figure as an inline SVG element and closes it."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot().close(figure)
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
