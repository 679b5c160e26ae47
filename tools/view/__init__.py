"""A run in three dimensions in the browser."""
