"""What belongs to one event loop, made anew in the next: an adapter of the caller's may serve several in turn."""

from collections.abc import Callable
from typing import Generic, TypeVar

import anyio.lowlevel

__all__ = ["PerLoop"]

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Keeps one thing for the loop it was last asked in; what was another loop's is let go."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._kept: tuple[object, T] | None = None

    def here(self) -> T:
        """This loop's own."""
        loop = anyio.lowlevel.current_token()
        if self._kept is None or self._kept[0] != loop:
            self._kept = (loop, self._make())
        return self._kept[1]

    def clear(self) -> None:
        """Keep none, nor the loop."""
        self._kept = None
