"""Benchmarks: ticks, exchanges on a HIL link, plant steps, optimizers."""
