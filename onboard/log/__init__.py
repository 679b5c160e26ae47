"""Recording a run as MCAP, streaming it to viewers, and reading it back."""
