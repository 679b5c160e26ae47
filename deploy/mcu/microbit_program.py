"""The program of a micro:bit (Cortex-M0, MicroPython 1.9.2, 9.4 kB of heap): gait table, limiter and servo map.

The host has the readings and the guidance, and requests one tick at a time. A tick here is the arithmetic of
onboard/gait/gait.py (TableGait), onboard/core/limiter.py and hal/core/maps.py (ServoMap), in the same integers, so that
pulses are equal to the microsecond. tools/hil/microbit_program.py puts a vehicle's numbers in front, removes
comments, docstrings and types, and splits it into pieces that the board can compile one by one.

    request     action, sequence, frequency, amplitude, turn, one set-point for each channel of OTHERS, CRC
    response    sequence, count of link timeouts, one pulse in microseconds per channel, CRC

Numbers of a request have 3 bytes, pulses 2, low byte first; the CRC (CRC-16/CCITT) has its high byte first. Actions: 0
free, 2 stay, 3 the safe state, 4 off, or PEEK, which moves nothing. The same sequence twice is one tick: the response
was lost. After LINK_TIMEOUT_MS without a request there are no pulses until the next one arrives.
"""

from array import array

import microbit

# A vehicle's numbers replace these on the board.
RATE = ROWS = ALPHA = 0
SHARE: "tuple[int, ...]" = ()
JOINTS = OTHERS = LOW = HIGH = SLEW = REST = ZERO = SCALE = LEAST = MOST = SHARE
SAFE: "tuple[int | None, ...]" = ()
TABLE = array("h")
LINK_TIMEOUT_MS = 200
# ---- below this line it is sent to the board
GAP_MS = 50  # half a request that waits longer for the rest is dropped
PEEK = 9
lags = array("i", [0] * 9)  # target and two stages each, of frequency, amplitude and turn
place = array("i", [0, 256, 0])  # the tail-beat's phase, the last sequence (256: none yet), link timeouts
commands = array("i", [0] * len(LOW))
last = array("i", REST)  # each channel's set-point, after limits
request = bytearray(13 + 3 * len(OTHERS))
answer = bytearray(4 + 2 * len(LOW))
one = bytearray(1)


def lag(k: int) -> int:
    """One step of a second-order lag, whose target is lags[k]."""
    first = lags[k + 1]
    first += (((lags[k] << 6) - first >> 6) * ALPHA) >> 8
    second = lags[k + 2]
    second += ((first - second >> 6) * ALPHA) >> 8
    lags[k + 1] = first
    lags[k + 2] = second
    return (second + 32) >> 6


def gait() -> None:
    """One tick of the look-up table: the joints' set-points."""
    phase = (place[0] + (lag(0) << 10) // RATE) & 0xFFFFFF
    place[0] = phase
    gain = lag(3)
    turn = lag(6)
    at = (phase >> 4) * ROWS
    part = (at >> 6) & 16383
    row = (at >> 20) * len(JOINTS)
    after = row + len(JOINTS)
    if after == len(TABLE):
        after = 0
    i = 0
    while i < len(JOINTS):
        low = TABLE[row + i]
        wave = (low + (((TABLE[after + i] - low) * part) >> 14)) * gain >> 14
        commands[JOINTS[i]] = wave + (turn * SHARE[i] >> 14)
        i += 1


def pulse(i: int, action: int) -> int:
    """A channel's pulse in microseconds, 0 for none: limits, slew and servo map."""
    safe = SAFE[i] if action == 3 else 0
    if action == 4 or safe is None:
        return 0
    was = last[i]
    ask = safe if action == 3 else was if action == 2 else commands[i]
    ask = min(max(ask, LOW[i], was - SLEW[i]), HIGH[i], was + SLEW[i])
    last[i] = ask
    return min(max(ZERO[i] + ((ask * SCALE[i] + 131072) >> 18), LEAST[i]), MOST[i])


def put(i: int, us: int) -> None:
    """Writes a channel's pulse into the response."""
    answer[2 + 2 * i] = us & 255
    answer[3 + 2 * i] = us >> 8


def crc(of: bytearray, size: int) -> int:
    """CRC-16/CCITT of the first bytes."""
    c = 65535
    i = 0
    while i < size:
        x = (c >> 8) ^ of[i]
        x ^= x >> 4
        c = (c << 8 ^ x << 12 ^ x << 5 ^ x) & 65535
        i += 1
    return c


def number(at: int) -> int:
    """A signed number of 3 bytes in the request."""
    return request[at] | request[at + 1] << 8 | ((request[at + 2] ^ 128) - 128) << 16


def move() -> None:
    """Takes the set-points of a request, and does one tick of the gait."""
    lags[0] = number(2)
    lags[3] = number(5)
    lags[6] = number(8)
    i = 0
    while i < len(OTHERS):
        commands[OTHERS[i]] = number(11 + 3 * i)
        i += 1
    gait()


def act(action: int) -> None:
    """Writes all pulses into the response."""
    i = 0
    while i < len(LOW):
        put(i, pulse(i, action))
        i += 1


def take() -> bool:
    """Handles a whole request and responds; False if it is damaged or moves nothing."""
    if crc(request, len(request)):
        return False
    action = request[0]
    if action != PEEK:
        if request[1] != place[1]:
            move()
            place[1] = request[1]
        elif action < 2:  # the same tick again, maybe after a link timeout: keep the joints where they are
            action = 2
        act(action)
    answer[0] = request[1]
    answer[1] = place[2] & 255
    size = len(answer) - 2
    check = crc(answer, size)
    answer[size] = check >> 8
    answer[size + 1] = check & 255
    microbit.uart.write(answer)
    return action != PEEK


def go_limp() -> None:
    """Link timeout: no pulses."""
    place[2] += 1
    act(4)


def serve() -> None:
    """Receives requests and responds, for ever."""
    received = came = microbit.running_time()
    count = 0
    alive = False
    while True:
        now = microbit.running_time()
        if microbit.uart.any():
            microbit.uart.readinto(one)
            request[count] = one[0]
            count += 1
            came = now
            if count == len(request):
                count = 0
                if take():
                    received = now
                    alive = True
        elif now - came > GAP_MS:
            count = 0
        if alive and now - received > LINK_TIMEOUT_MS:
            alive = False
            go_limp()
