"""Logs: records a run as MCAP, streams it to viewers, and reads it.

- A log is a complete MCAP file after every half second. mcap_writer.py writes the records itself, because the
  package's writer cannot flush on demand, and a kill can cut a single write between two pages.
- stream.py has the interface of a recorder, too: viewers receive the topics and events of the log, newest first, and
  the commands that they send are executed between two ticks. A view is a process of its own, so that it shares
  neither the interpreter's lock nor, nearly, the processor with the loop.
"""
