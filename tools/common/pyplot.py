"""matplotlib without a screen, set up once."""

import io
from typing import Any


def pyplot() -> Any:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "caudal"  # the same data gives the same file
    import matplotlib.pyplot as plt

    return plt


def as_svg(figure: Any) -> str:
    """The figure as an inline SVG element."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot().close(figure)
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
