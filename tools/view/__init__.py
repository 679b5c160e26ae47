"""`caudal view`: a run in the browser, in three dimensions.

- The page of a log is served before the log has been read, and without shadows and reflections at first: without a
  graphics card, a browser needs three seconds for the first of them.
- Skins are moved by bones: a tail's flank or a bellows is sent once, then only its bones move.
- Forces of the water are computed by the plant's own models at velocities from neighbouring rows. The plant is loaded
  when they are switched on. The inertia of added mass is left out: it depends on accelerations, which a log with
  stepping servos does not contain.
"""
