"""A driver without devices."""


class NullDriver:
    """A board's driver without devices: enough to see that names resolve and maps build."""

    def read(self, counts: list[int | None]) -> None:
        """There are no readings."""
        for i in range(len(counts)):
            counts[i] = None

    def write(self, outputs: list[int]) -> None:
        """Drops the outputs."""

    def close(self) -> None:
        """There is nothing to close."""
