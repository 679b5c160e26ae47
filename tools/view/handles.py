"""Access to the controls of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from viser import GuiInputHandle

Value = TypeVar("Value")


def set_value(control: GuiInputHandle[Value], value: Value) -> None:
    """Sets the value of a control in all browsers."""
    control.value = value  # type: ignore[misc]  # mypy misses the setter: viser has a method before it
