"""How many messages are handled in one round of the event loop, so that no round is long.

Law of this file: a round goes through all that is ready, and two hundred actors that are ready at once would hold
everything else for as long as all of them take. Alone, nobody waits here.
"""

from __future__ import annotations

from collections import deque

import anyio
from anyio.lowlevel import checkpoint

from actormem.kernel.clock import Clock

__all__ = ["Turnstile"]

ROUND_S = 0.008
"""Handled in one round, seconds, before others have to wait for the next; what is begun is finished."""
AT_ONCE_MAX = 64
"""Let through in one round, where the rounds before were short."""
PATIENT_EVERY = 4
"""Of those let through, one so often is of those nobody asks for: they must come to their turn, too."""


class Turnstile:
    """Lets messages through, those that somebody waits for first."""

    __slots__ = ("_asked", "_at_once", "_clock", "_count", "_running", "_since_s", "_told", "_wanted")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asked: deque[anyio.Event] = deque()
        self._told: deque[anyio.Event] = deque()
        self._wanted = anyio.Event()
        self._running = False
        self._since_s = 0.0
        self._at_once = 1
        self._count = 0

    def passes(self) -> bool:
        """Whether a message may be handled at once; otherwise it is to `wait`."""
        if self._asked or self._told:
            return False
        if not self._running:
            self._running = True
            self._since_s = self._clock.monotonic_s()
            self._wanted.set()
            return True
        return self._clock.monotonic_s() - self._since_s < ROUND_S

    async def wait(self, *, asked: bool) -> None:
        """Return in a later round.

        Args:
            asked: Whether somebody waits for the answer.
        """
        event = anyio.Event()
        queue = self._asked if asked else self._told
        queue.append(event)
        try:
            await event.wait()
        finally:
            if not event.is_set():
                queue.remove(event)

    async def run(self) -> None:
        """Let those who wait through, round by round, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            while True:
                began_s = self._clock.monotonic_s()
                await checkpoint()
                self._since_s = self._clock.monotonic_s()
                if not self._asked and not self._told:
                    break
                long = self._since_s - began_s > ROUND_S
                self._at_once = max(1, self._at_once // 2) if long else min(AT_ONCE_MAX, 2 * self._at_once)
                for _ in range(self._at_once):
                    if queue := self._next():
                        queue.popleft().set()
            self._running = False
            self._at_once = 1

    def _next(self) -> deque[anyio.Event]:
        self._count += 1
        patient = self._told and self._count % PATIENT_EVERY == 0
        return self._told if patient or not self._asked else self._asked
