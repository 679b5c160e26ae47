"""MAVLink 2 to ground stations, off the control thread. CPython only; needs pymavlink (extra `station`).

bridge.py      where the control thread and the stations' thread meet: the one place
station/vehicle_link.py       a vehicle as stations see it              stations.py   the thread: links, peers, time
datagrams.py, streams.py    UDP; TCP and serial          station/station_link.py       one station at the end of a link
frames.py      bytes to messages                         signing.py    who may say something
session.py     one station and one vehicle: what is heard, by message
telemetry.py, parameters.py, commands.py, missions.py, pilot.py, logs.py, ftp.py    what they talk about
"""
