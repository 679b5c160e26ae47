"""MAVLink 2 for ground stations, in a thread of its own. CPython only; needs pymavlink (extra `station`).

bridge.py                   the interface between the control thread and the stations' thread
vehicle_link.py             a vehicle as stations see it        stations.py    the thread: links, stations, time
datagrams.py, streams.py    UDP; TCP and serial                 station_link.py    one station at the end of a link
frames.py                   bytes to messages                   signing.py     signatures of messages
session.py                  one station and one vehicle: dispatches messages to the parts below
telemetry.py, parameters.py, commands.py, missions.py, pilot.py, fault_requests.py, logs.py, ftp.py
"""
