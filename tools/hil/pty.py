"""Pseudo-terminals: serial lines between two processes of one machine."""

import os
import termios
import tty


def open_line() -> tuple[int, int]:
    """A pseudo-terminal that carries bytes as they are: (this end, the other end)."""
    master, slave = os.openpty()
    tty.setraw(slave)
    mode = termios.tcgetattr(slave)
    mode[6][termios.VMIN] = 0  # MicroPython reads until its buffer is full: give it what there is
    termios.tcsetattr(slave, termios.TCSANOW, mode)
    return master, slave
