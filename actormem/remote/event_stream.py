"""Server-sent events taken apart, as they come in pieces."""

from collections.abc import Iterator

__all__ = ["EventReader"]

EVENT_BYTES_MAX = 4 * 1024 * 1024  # one event; a stream with a longer one is not read on


class EventReader:
    """Gives the data of each event."""

    def __init__(self) -> None:
        self._left = bytearray()
        self._spoiled = False

    def read(self, part: bytes) -> Iterator[bytes]:
        """The data of the events that this part brings to an end."""
        if self._spoiled:
            return
        self._left += part
        if b"\r" in self._left:
            self._left = self._left.replace(b"\r\n", b"\n")
        while (end := self._left.find(b"\n\n")) >= 0:
            event = bytes(self._left[:end])
            del self._left[: end + 2]
            yield from _data(event)
        self._spoiled = len(self._left) > EVENT_BYTES_MAX

    def rest(self) -> Iterator[bytes]:
        """The data of the last event, of a stream that ends without an empty line."""
        event = bytes(self._left)
        self._left.clear()
        yield from _data(event)


def _data(event: bytes) -> Iterator[bytes]:
    lines = [line[5:].lstrip(b" ") for line in event.split(b"\n") if line.startswith(b"data:")]
    if lines:
        yield b"\n".join(lines)
