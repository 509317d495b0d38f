"""Turns that are open over HTTP: begun by one request, ended by another, or by time where nobody comes back.

Law: a turn that is open holds up its session; so each ends, by its reply, by its caller's leaving, or when nobody has
touched it for as long as its caller said. The same message id opens the same turn.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import anyio

from actormem import ActorMemError, OverloadedError, Session, SessionKey, Turn, UsageError

__all__ = ["HeldTurn", "OpenTurns"]

TURNS_MAX = 10_000
ENDED_MAX = 10_000  # turns whose end is remembered, so that the same end once more changes nothing
IDLE_S_MAX = 3_600.0
Place = tuple[SessionKey, str]
Outcome = Literal["complete", "partial", "unanswered", "failed"]


class HeldTurn:
    """One open turn, who asked for it, and when it was touched."""

    def __init__(self, key: SessionKey, turn: Turn, request: str, idle_s: float, now_s: float) -> None:
        self.key = key
        self.turn = turn
        self.request = request
        self.idle_s = idle_s
        self.touched_s = now_s
        self.lock = anyio.Lock()
        self.busy = False  # a model is at work for it here: it is not left
        self.called: set[str] = set()  # ids of tool calls it has had, as far as they are known here
        self.answered: set[str] = set()

    @property
    def place(self) -> Place:
        """Where it is found."""
        return self.key, self.turn.id


class OpenTurns:
    """All of them.

    Attributes:
        monotonic_s: The time.
    """

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self.monotonic_s = monotonic_s
        self._held: dict[Place, HeldTurn] = {}
        self._opening: dict[Place, anyio.Event] = {}
        self._ended: OrderedDict[Place, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def waiting_count(self) -> int:
        """Turns that are asked for and not open yet."""
        return len(self._opening)

    async def open(
        self, session: Session, message: Any, id: str | None, *, idle_s: float = 120.0, request: str = ""
    ) -> HeldTurn:
        """The turn of that message id, opened if it is not open.

        Raises:
            UsageError: It is no message of a user, or its turn has been answered.
            OverloadedError: Too many turns are open, or the one before it took too long.
        """
        if not 1 <= idle_s <= IDLE_S_MAX:
            raise UsageError(f"idle_s must lie in 1 to {IDLE_S_MAX:g}, not {idle_s:g}")
        turn = session.turn(message, id=id)
        place = (session.key, turn.id)
        while (others := self._opening.get(place)) is not None:
            await others.wait()
        held = self._held.get(place)
        if held is not None:
            held.request, held.idle_s = request, idle_s
            self.touch(held)
            return held
        if len(self._held) + len(self._opening) >= TURNS_MAX:
            raise OverloadedError(
                "no turn more can be opened", mailbox="open turns", waiting=len(self._held), limit=TURNS_MAX
            )
        self._opening[place] = anyio.Event()
        try:
            await turn.__aenter__()
            held = HeldTurn(session.key, turn, request, idle_s, self.monotonic_s())
            self._held[place] = held
            self._ended.pop(place, None)
        finally:
            self._opening.pop(place).set()
        return held

    def find(self, key: SessionKey, turn_id: str, request: str = "") -> HeldTurn:
        """The open turn of that id, touched.

        Raises:
            UsageError: It is not open, or another caller has taken it over.
        """
        held = self._held.get((key, turn_id))
        if held is None:
            raise UsageError("this turn is not open", hint="open it again with the same message id")
        if request and held.request != request:
            raise UsageError("another caller has opened this turn again with the same message id")
        self.touch(held)
        return held

    def newest(self, key: SessionKey, request: str) -> HeldTurn | None:
        """The session's open turn, if it was opened with this request's name."""
        mine = (held for held in self._held.values() if held.key == key and held.request == request)
        return next(mine, None)

    def touch(self, held: HeldTurn) -> None:
        """It is still being worked on."""
        held.touched_s = self.monotonic_s()

    def has_ended(self, key: SessionKey, turn_id: str, ending: bytes) -> bool:
        """Whether the turn has been ended in this very way already, by who names it so."""
        return self._ended.get((key, turn_id)) == ending

    async def end(
        self,
        held: HeldTurn,
        messages: Sequence[Mapping[str, object]] = (),
        outcome: Outcome | None = None,
        ending: bytes = b"",
    ) -> None:
        """Record the messages, the reply last, and end the turn.

        Args:
            ending: Names this way to end it, for `has_ended`; empty where nobody asks once more.
        """
        async with held.lock:
            if self._held.get(held.place) is not held:
                return  # somebody else has ended it while this waited
            try:
                for message in messages[:-1]:
                    await held.turn.add(message)
                for message in messages[-1:]:
                    if message.get("role") == "assistant":
                        held.turn.reply(message)
                    else:
                        await held.turn.add(message)
                await held.turn.end(outcome)
            except UsageError:
                if not held.turn.is_open:
                    self._drop(held)
                raise
            self._drop(held)
            if ending:
                self._ended[held.place] = ending
            while len(self._ended) > ENDED_MAX:
                self._ended.popitem(last=False)

    async def sweep(self) -> int:
        """End the turns that nobody has touched in time; gives how many."""
        now_s = self.monotonic_s()
        left = [one for one in self._held.values() if not one.busy and now_s - one.touched_s >= one.idle_s]
        for held in left:
            await self._leave(held)
        return len(left)

    async def end_all(self) -> int:
        """End all turns, as unanswered as they are; gives how many."""
        left = list(self._held.values())
        for held in left:
            await self._leave(held)
        return len(left)

    async def _leave(self, held: HeldTurn) -> None:
        with suppress(ActorMemError):
            await self.end(held)
        self._drop(held)

    def _drop(self, held: HeldTurn) -> None:
        if self._held.get(held.place) is held:
            del self._held[held.place]
