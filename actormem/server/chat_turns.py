"""The turn that a chat completion belongs to: a new one, one that waits for tool results, or one asked once more.

Law: a client that sends the same words again, because nothing had come of them, doubles nothing.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from actormem import UNSET, Budget, OverloadedError, Owner, PastTurn, Session, SessionKey
from actormem.server.chat_request import ChatRequest, Whose, same_words, words_mark
from actormem.server.loose import entries, fields
from actormem.server.state import ServerState
from actormem.server.turns import HeldTurn

__all__ = ["ChatTurns"]

SESSIONS_MAX = 10_000  # sessions whose newest turn is remembered; of others it is read
TURN_WAIT_S = 30.0  # for the request before it, of the same session
REQUEST = "proxy"
ASKED_AGAIN = ("unanswered", "failed")
Last = tuple[str, str]  # id, and mark of the words, of the newest turn's message where nothing has come of it
NOTHING: Last = ("", "")


class ChatTurns:
    """Finds and opens turns for the proxy."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._last: OrderedDict[SessionKey, Last] = OrderedDict()
        self._locks: dict[SessionKey, anyio.Lock] = {}

    @asynccontextmanager
    async def alone(self, whose: Whose) -> AsyncGenerator[None]:
        """Inside, no other request of the session is answered by the proxy: its turns are serial.

        Raises:
            OverloadedError: The one before takes too long; nothing changed.
        """
        key = SessionKey(Owner(whose.tenant, whose.user), whose.session_id)
        lock = self._locks.setdefault(key, anyio.Lock())
        try:
            acquired = False
            with anyio.move_on_after(TURN_WAIT_S):
                await lock.acquire()
                acquired = True
            if not acquired:
                raise OverloadedError(
                    f"the turn waited {TURN_WAIT_S:g} s for the one before it",
                    mailbox="turns of the session",
                    waiting=lock.statistics().tasks_waiting,
                    limit=1,
                )
            try:
                yield
            finally:
                lock.release()
        finally:
            if not lock.locked() and not lock.statistics().tasks_waiting:
                self._locks.pop(key, None)

    async def open(self, asked: ChatRequest, whose: Whose) -> HeldTurn:
        """The turn, open, with a context for the model; it is busy until `answered` or `left`.

        Raises:
            UsageError: A message is none, or the settings do not fit.
            OverloadedError: The turn before it takes too long.
        """
        session, turns = await self._session(asked, whose), self._state.turns
        mark = self._state.contexts.mark(session.key.owner)
        last = await self._last_of(session, asked)
        waiting = turns.newest(session.key, REQUEST)
        id = whose.message_id or _same(waiting, last, asked)
        if waiting is not None and (waiting.turn.id != id or not asked.after):
            await turns.end(waiting)  # its tools never answered
        if not id:
            await self._beside(session, asked)
        idle_s = self._state.settings.turn_idle_s
        held = await turns.open(session, asked.said, id or None, idle_s=idle_s, request=REQUEST)
        held.busy = True
        try:
            await _go_on(held, session, asked)
        except BaseException:
            held.busy = False
            raise
        self._remember(session.key, (held.turn.id, words_mark(asked.said.get("content"))))
        self._state.contexts.keep(session.key, held.turn.id, held.turn.messages, mark)
        return held

    async def answered(self, held: HeldTurn, call_ids: frozenset[str]) -> None:
        """A whole reply has come: the turn ends, or goes on when the tools it calls have answered."""
        held.busy = False
        if call_ids:
            held.called |= call_ids
            self._state.turns.touch(held)
            self._remember(held.key, NOTHING)
            return
        await self._state.turns.end(held)
        self._remember(held.key, NOTHING)

    async def left(self, held: HeldTurn) -> None:
        """No whole reply has come: what was said is recorded, and where nothing was the turn may be asked again."""
        held.busy = False
        said = held.turn.first_token_ms is not None
        await self._state.turns.end(held)
        if said:
            self._remember(held.key, NOTHING)

    async def _session(self, asked: ChatRequest, whose: Whose) -> Session:
        budget = self._state.settings.budget_tokens
        session = await self._state.runtime.spawn(
            whose.session_id,
            user=whose.user,
            tenant=whose.tenant,
            model=UNSET if asked.model is None else asked.model,
            system=UNSET if asked.system is None else asked.system,
            tools=UNSET if asked.tools is None else asked.tools,
            budget=UNSET if budget is None else Budget(context=budget),
        )
        return self._state.handle(session)

    async def _last_of(self, session: Session, asked: ChatRequest) -> Last:
        """The newest turn of which nothing has come; a session that is new takes the client's history in."""
        known = self._last.get(session.key)
        if known is not None:
            return known
        turns = await session.turns()
        messages = await session.messages()
        if not messages:
            if asked.history:
                await session.add_many([*asked.history, *asked.beside])
            found = NOTHING
        else:
            found = _unanswered(turns, {one.id: one.content for one in messages})
        self._remember(session.key, found)
        return found

    async def _beside(self, session: Session, asked: ChatRequest) -> None:
        known = await session.messages() if asked.beside else ()
        tail = [one.content for one in known[-2 * len(asked.beside) - 2 :]]
        new = [one for one in asked.beside if not any(same_words(one.get("content"), old) for old in tail)]
        if new:
            await session.add_many(new)

    def _remember(self, key: SessionKey, last: Last) -> None:
        self._last[key] = last
        self._last.move_to_end(key)
        while len(self._last) > SESSIONS_MAX:
            self._last.popitem(last=False)


async def _go_on(held: HeldTurn, session: Session, asked: ChatRequest) -> None:
    """Add the tool calls and results that the turn does not have yet, and build its context again."""
    if not asked.after:
        return
    if not held.called:
        await _read_calls(held, session)
    for message in asked.after:
        ids = {str(fields(one).get("id")) for one in entries(message.get("tool_calls"))}
        answers = str(message.get("tool_call_id")) if message["role"] == "tool" else ""
        if (ids and ids <= held.called) or answers in held.answered:
            continue
        await held.turn.add(message)
        held.called |= ids
        held.answered |= {answers} if answers else set()
    await held.turn.context()


async def _read_calls(held: HeldTurn, session: Session) -> None:
    """What the turn has had before it was opened this time."""
    known = {one.id: one for one in await session.messages()}
    turn = next((one for one in await session.turns() if one.id == held.turn.id), None)
    had = [known[id] for id in (turn.message_ids if turn else ()) if id in known]
    held.called |= {call.id for one in had for call in one.tool_calls}
    held.answered |= {one.tool_call_id for one in had if one.tool_call_id}


def _same(waiting: HeldTurn | None, last: Last, asked: ChatRequest) -> str:
    """The id of the turn that these words have begun already, or an empty string."""
    if last[0] and last[1] == words_mark(asked.said.get("content")):
        return last[0]
    return waiting.turn.id if waiting is not None and asked.after else ""


def _unanswered(turns: tuple[PastTurn, ...], contents: dict[str, Any]) -> Last:
    if turns and turns[-1].outcome in ASKED_AGAIN:
        return turns[-1].id, words_mark(contents.get(turns[-1].id))
    return NOTHING
