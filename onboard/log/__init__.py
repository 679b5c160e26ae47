"""Records a run as MCAP, streams it to viewers, and reads logs."""
