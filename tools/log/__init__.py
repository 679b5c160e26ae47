"""Data that reports and views read from a log or a stream."""
