"""MAVLink 2 to ground stations, in a thread of its own. CPython only; needs pymavlink (extra `station`).

bridge.py                   the only interface of control thread and stations' thread
stations.py                 the thread: links, stations, time
datagrams.py, streams.py    UDP; TCP and serial lines
frames.py, signing.py       bytes to messages; which frames are accepted
station_link.py             one ground station at the end of a link
vehicle_link.py             a vehicle as ground stations see it
session.py                  one station and one vehicle: passes messages to the parts below
telemetry.py, parameters.py, commands.py, missions.py, pilot.py, fault_requests.py, logs.py, ftp.py

One thread serves all stations, and the control thread never waits for it. bridge.py works without a lock: before a
tick, the control thread sends at most a dozen commands to the loop (a disarm first, the latest manual control and
set-point, then stations in turn); after it, it publishes a new snapshot and the answers. The data that a station may
send per second, the queue and the work per tick are all bounded.

A vehicle presents itself as a PX4 by default (`station.autopilot`): MAVSDK's modes and integer parameters then work
unchanged; mode_numbers.py has the numbers. pymavlink packs and decodes messages, but does not parse streams or check
signatures: its parser stores all bytes of a stream that never pauses, and one forged frame locks a station out.
"""
