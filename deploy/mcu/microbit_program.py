"""What runs on a micro:bit (Cortex-M0, MicroPython 1.9.2, 9.4 kB of heap): gait table, gate and servo map.

The host has the readings and the guidance; it asks for one tick at a time. A tick here is the arithmetic of
onboard/gait/gait.py (TableGait), of the limits in onboard/core/failsafe.py and of hal/core/maps.py (ServoMap), in the
same integers, so that pulses are the same to the microsecond. tools/hil/microbit_program.py puts a vehicle's numbers
before it, takes out what only people read, and cuts it into pieces that the board can compile one by one.

    request     action, sequence, frequency, amplitude, turn, one command for each channel OTHERS, crc
    answer      sequence, trips of the dead-man, one pulse in microseconds a channel, crc

Numbers of a request have 3 bytes, pulses 2, low byte first; the CRC (CRC-16/CCITT) has its high byte first. An
action: 0 free, 2 stay, 3 the safe state, 4 off, or PEEK, which moves nothing. The same sequence twice is one tick: the
answer was lost. After DEAD_MAN_MS without a request there are no pulses until the next one comes.
"""

from array import array

import microbit

# A vehicle's numbers stand here on the board; these make the file whole for whoever reads it.
RATE = ROWS = ALPHA = 0
SHARE = JOINTS = OTHERS = LOW = HIGH = SLEW = REST = SAFE = ZERO = SCALE = LEAST = MOST = ()
TABLE = array("h")
DEAD_MAN_MS = 200
# ---- below this line it is sent as it stands
GAP_MS = 50  # half a request that waits longer for the rest is garbage
PEEK = 9
lags = array("i", [0] * 9)  # target and two stages each, of frequency, amplitude and turn
place = array("i", [0, 256, 0])  # the tail-beat's phase, the last sequence (256: none yet), trips
commands = array("i", [0] * len(LOW))
last = array("i", REST)  # what each channel was told, after limits
request = bytearray(13 + 3 * len(OTHERS))
answer = bytearray(4 + 2 * len(LOW))
one = bytearray(1)


def lag(k):
    first = lags[k + 1]
    first += (((lags[k] << 6) - first >> 6) * ALPHA) >> 8
    second = lags[k + 2]
    second += ((first - second >> 6) * ALPHA) >> 8
    lags[k + 1] = first
    lags[k + 2] = second
    return (second + 32) >> 6


def gait():
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


def pulse(i, action):
    safe = SAFE[i]
    if action == 4 or (action == 3 and safe is None):
        return 0
    was = last[i]
    ask = safe if action == 3 else was if action == 2 else commands[i]
    ask = min(max(ask, LOW[i], was - SLEW[i]), HIGH[i], was + SLEW[i])
    last[i] = ask
    return min(max(ZERO[i] + ((ask * SCALE[i] + 131072) >> 18), LEAST[i]), MOST[i])


def put(i, us):
    answer[2 + 2 * i] = us & 255
    answer[3 + 2 * i] = us >> 8


def crc(of, size):
    c = 65535
    i = 0
    while i < size:
        x = (c >> 8) ^ of[i]
        x ^= x >> 4
        c = (c << 8 ^ x << 12 ^ x << 5 ^ x) & 65535
        i += 1
    return c


def number(at):
    return request[at] | request[at + 1] << 8 | ((request[at + 2] ^ 128) - 128) << 16


def move():
    lags[0] = number(2)
    lags[3] = number(5)
    lags[6] = number(8)
    i = 0
    while i < len(OTHERS):
        commands[OTHERS[i]] = number(11 + 3 * i)
        i += 1
    gait()


def act(action):
    i = 0
    while i < len(LOW):
        put(i, pulse(i, action))
        i += 1


def take():
    if crc(request, len(request)):
        return False
    action = request[0]
    if action != PEEK:
        if request[1] != place[1]:
            move()
            place[1] = request[1]
        elif action < 2:  # the same tick again, maybe after the dead-man: where the joints are by now
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


def go_limp():
    place[2] += 1
    act(4)


def serve():
    heard = came = microbit.running_time()
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
                    heard = now
                    alive = True
        elif now - came > GAP_MS:
            count = 0
        if alive and now - heard > DEAD_MAN_MS:
            alive = False
            go_limp()
