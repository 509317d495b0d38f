"""How many messages are handled in one round of the event loop, so that no round is long.

Law of this file: a round goes through all that is ready, and two hundred actors that are ready at once would hold
everything else for as long as all of them take. Alone, nobody waits here.
"""

from __future__ import annotations

from collections import deque

import anyio
from anyio.lowlevel import checkpoint

from actormem.kernel.clock import Clock

__all__ = ["Turnstile", "is_urgent"]

ROUND_S = 0.008
"""Handled in one round, seconds, before others have to wait for the next; what is begun is finished."""
AT_ONCE_MAX = 64
"""Let through in one round, where the rounds before were short."""


def is_urgent(message: object) -> bool:
    """Whether somebody waits for what a tell leads to: then its class has `urgent = True`."""
    return bool(getattr(message, "urgent", False))


class Turnstile:
    """Lets tells through, first come first served. Asks do not come here: their askers have deadlines."""

    __slots__ = ("_at_once", "_clock", "_running", "_since_s", "_waiting", "_wanted")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: deque[anyio.Event] = deque()
        self._wanted = anyio.Event()
        self._running = False
        self._since_s = 0.0
        self._at_once = 1

    def passes(self) -> bool:
        """Whether a message may be handled at once; otherwise it is to `wait`."""
        if self._waiting:
            return False
        if not self._running:
            self._running = True
            self._since_s = self._clock.monotonic_s()
            self._wanted.set()
            return True
        return self._clock.monotonic_s() - self._since_s < ROUND_S

    async def wait(self) -> None:
        """Return in a later round."""
        event = anyio.Event()
        self._waiting.append(event)
        try:
            await event.wait()
        finally:
            if not event.is_set():
                self._waiting.remove(event)

    async def run(self) -> None:
        """Let those who wait through, round by round, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            while True:
                began_s = self._clock.monotonic_s()
                await checkpoint()
                self._since_s = self._clock.monotonic_s()
                if not self._waiting:
                    break
                long = self._since_s - began_s > ROUND_S
                self._at_once = max(1, self._at_once // 2) if long else min(AT_ONCE_MAX, 2 * self._at_once)
                for _ in range(min(self._at_once, len(self._waiting))):
                    self._waiting.popleft().set()
            self._running = False
            self._at_once = 1
