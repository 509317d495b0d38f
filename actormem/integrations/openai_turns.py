"""Turns of sessions behind calls that stand by themselves: each call opens a turn, or goes on with one, and leaves it.

A turn that the model left at tool calls is unanswered; the call that brings the results resumes it by its id. So
nothing is held open between two calls: a program that never comes back blocks nobody, and one that was restarted in
between goes on.
"""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, cast
from weakref import finalize, ref

import anyio

from actormem import (
    UNSET,
    ActorMemError,
    Runtime,
    Session,
    SessionKey,
    Turn,
    UsageError,
)
from actormem.integrations.openai_history import Log, New, key_of, new_of, split_system
from actormem.integrations.openai_items import Item, as_mapping

__all__ = ["Exchange", "Exchanges", "Finish"]

logger = logging.getLogger("actormem.integrations")

Finish: TypeAlias = Callable[[BaseException | None], Coroutine[Any, Any, None]]
ROLES: Final = ("system", "developer", "user", "assistant", "tool")
LOGS_MAX: Final = 1_024  # sessions whose newest messages are known without reading them again
END_WAIT_S: Final = 5.0  # for what a cancelled call still has to record


class Exchange:
    """One call: an open turn, and what is said in it. An async context manager, entered when it is made.

    Attributes:
        messages: What to send, in the form of chat completions.
        log: What is known of the session.
    """

    def __init__(self, turn: Turn, log: Log, forget: Callable[[], object]) -> None:
        self.messages: list[dict[str, Any]] = []
        self.log = log
        self._turn = turn
        self._forget = forget
        self._open = True
        self._replies: list[Item] = []
        self._whole = False

    @property
    def is_open(self) -> bool:
        """Whether it was not left yet."""
        return self._open

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.end(error)

    def feed(self, chunk: object) -> None:
        """One chunk of a stream of chat completions; what is none is let pass."""
        with suppress(UsageError):
            self._turn.feed(chunk)

    def replied(self, message: Item, *, whole: bool) -> None:
        """What the model has said, once no more comes.

        Args:
            whole: Whether it came to its end.
        """
        self._replies.append(message)
        self._whole = whole

    def completed(self, completion: object, message: Item) -> None:
        """A whole completion; what a session cannot take in is left out, for the program has its answer."""
        try:
            self._turn.reply(completion)
        except UsageError as error:
            logger.warning("a reply was not recorded: %s", error)
            return
        self.replied(message, whole=True)

    async def shrink(self) -> None:
        """A smaller context: the model refused the one before."""
        self.messages = cast("list[dict[str, Any]]", await self._turn.shrink())

    async def end(self, error: BaseException | None = None) -> None:
        """Leave the turn: what was said is recorded. Nothing happens where it was left already."""
        if not self._open:
            return
        self._open = False
        kind = None if error is None else type(error)
        try:
            with anyio.move_on_after(END_WAIT_S, shield=True) as scope:
                await self._turn.__aexit__(kind, error, None)
        except ActorMemError as lost:
            self._forget()
            logger.warning("a turn was not recorded: %s", lost)
            return
        if scope.cancelled_caught or error is not None or not self._replies:
            self._forget()
            return
        for reply in self._replies:
            self.log.heard(key_of(reply))
        if self._whole and not self._replies[-1].get("tool_calls"):
            self.log.answered()


def _end_when_dropped(
    stream: object, exchange: Exchange, finish: Finish, loop: asyncio.AbstractEventLoop
) -> None:
    tasks: list[asyncio.Task[None]] = []  # a loop holds its tasks weakly

    def end() -> None:
        if exchange.is_open:
            tasks.append(loop.create_task(finish(None)))

    def dropped() -> None:
        if exchange.is_open and not loop.is_closed():  # a collector may run in any thread
            loop.call_soon_threadsafe(end)

    finalize(stream, dropped).atexit = False


class Exchanges:
    """Makes them, over one runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._logs: OrderedDict[SessionKey, Log] = OrderedDict()
        self._streams: dict[SessionKey, tuple[ref[object], Exchange, Finish]] = {}

    async def begin(
        self,
        given: Sequence[object],
        *,
        session: object,
        user: object,
        tenant: object = "",
        model: object = None,
        tools: object = None,
        system: str | None = None,
    ) -> tuple[SessionKey, Exchange]:
        """Take in what is new of the messages, and open the turn that is to be answered.

        Raises:
            UsageError: Nothing is there to be answered, a message or an id is none; nothing changed.
        """
        messages = _messages(given)
        prompt, said = split_system(messages)
        if not said or said[-1].get("role") == "assistant":
            raise UsageError(
                "nothing is there to be answered",
                hint="the last message must be the user's or a tool's result",
            )
        prompts = [one for one in (system, prompt) if one is not None]
        handle = await self._runtime.spawn(
            cast("str", session),
            user=cast("str", user),
            tenant=cast("str", tenant),
            model=cast("str", UNSET if model is None else model),
            system="\n\n".join(prompts) if prompts else UNSET,
            tools=cast("Sequence[Mapping[str, object]]", tools) if tools else UNSET,
        )
        await self._end_left(handle.key)
        exchange = await self._opened(handle, said)
        return handle.key, exchange

    def streaming(self, key: SessionKey, stream: object, exchange: Exchange, finish: Finish) -> None:
        """This stream is to end the exchange; where it is dropped unread, the event loop does.

        On trio, which has no task for that, the next call of the session does.
        """
        self._streams = {one: held for one, held in self._streams.items() if held[1].is_open}
        self._streams[key] = ref(stream), exchange, finish
        with suppress(RuntimeError):  # trio
            _end_when_dropped(stream, exchange, finish, asyncio.get_running_loop())

    async def _end_left(self, key: SessionKey) -> None:
        held = self._streams.get(key)
        if held is not None and held[0]() is None:
            await held[2](None)

    async def _opened(self, session: Session, said: Sequence[Item]) -> Exchange:
        key = session.key
        log = self._logs.get(key)
        new = None if log is None else new_of(said, log)
        if log is None or new is None or new.stale_count:
            log = await _read(session)
            new = new_of(said, log) or New((), said[-1], ())
        if new.stale_count:
            [oldest, *_] = (await session.messages())[-new.stale_count :]
            await session.rewind(oldest.id)
            log = await _read(session)
        if new.question is None and not log.turn_id:
            raise UsageError(
                "nothing is there to be answered",
                hint="a tool's result must answer a call of the newest turn",
            )
        self._keep(key, log)
        try:
            return await self._entered(session, new, log)
        except BaseException:
            self._logs.pop(key, None)
            raise

    async def _entered(self, session: Session, new: New, log: Log) -> Exchange:
        if new.before:
            await session.add_many(new.before)
            for one in new.before:
                log.heard(key_of(one))
        asked = new.question
        turn = await _left(session, log.turn_id) if asked is None else session.turn(asked)
        exchange = Exchange(turn, log, lambda: self._logs.pop(session.key, None))
        await turn.__aenter__()
        try:
            if asked is not None:
                log.asked(turn.id)
                log.heard(key_of(asked))
            for one in new.after:
                await turn.add(one)
                log.heard(key_of(one))
            exchange.messages = cast(
                "list[dict[str, Any]]", await turn.context() if new.after else turn.messages
            )
        except BaseException as error:
            await exchange.end(error)
            raise
        return exchange

    def _keep(self, key: SessionKey, log: Log) -> None:
        log.trim()
        self._logs[key] = log
        self._logs.move_to_end(key)
        while len(self._logs) > LOGS_MAX:
            self._logs.popitem(last=False)


async def _left(session: Session, turn_id: str) -> Turn:
    """The turn that was left, to go on with."""
    for message in await session.messages():
        if message.id == turn_id:
            return session.turn(json.loads(message.wire), id=turn_id)
    raise UsageError("nothing is there to be answered", hint="the question was forgotten; ask again")


async def _read(session: Session) -> Log:
    """What there is to know of a session."""
    messages = await session.messages()
    log = Log(key_of(json.loads(message.wire)) for message in messages)
    turns = await session.turns()
    if turns and turns[-1].outcome != "complete":
        places = [place for place, one in enumerate(messages) if one.id == turns[-1].id]
        later = messages[places[0] + 1 :] if places else ()
        if places and not any(one.role == "user" for one in later):
            log.asked(turns[-1].id, length=len(messages) - places[0])
    return log


def _messages(given: Sequence[object]) -> list[Item]:
    try:
        messages = [as_mapping(one) for one in given]
    except TypeError:
        raise UsageError("messages must be a list of mappings") from None
    if any(one.get("role") not in ROLES for one in messages):
        raise UsageError(f"a message's role must be one of {', '.join(ROLES)}")
    return messages
