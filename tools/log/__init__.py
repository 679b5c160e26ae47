"""What reports and views read from a log or a live stream."""
