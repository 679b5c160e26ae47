"""A page of plots for a log."""
